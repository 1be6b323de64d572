// Who is in the way, in words.
#include "duration.hpp"
#include "shown.hpp"
#include "take.hpp"

#include <afar/survey.hpp>

#include <fmt/format.h>

namespace afar::cli {
namespace {

std::string describe(const claimant& c) {
  std::string out = place_of(c) + " (";
  if (!c.user.empty()) out += shown(c.user + "@" + c.host) + ", ";
  out += c.command.empty() ? "unknown command" : shown(c.command);
  if (!c.label.empty()) out += ", " + shown(c.label);
  return out + ")";
}

}  // namespace

std::string way_in(const client& c, const std::string& name) {
  const auto e = inspect(c, name);
  if (!e) return "; it was until just now";
  switch (e->kind) {
    case usage::mutex:
      return "; take it without -s, -x, --fair and --permits";
    case usage::fair_mutex:
      return "; take it with --fair";
    case usage::shared_mutex:
      return "; take it with -x or -s";
    case usage::leased_semaphore:
      return fmt::format("; take it with --permits N --limit {}", e->limit);
    case usage::election:
      return "; take it with afar elect";
    case usage::barrier:
    case usage::counter:
    case usage::latch:
    case usage::counting_semaphore:
    case usage::stock:
      break;
  }
  return "; use another name";
}

std::string conflict(const client& c, const std::string& name) {
  const auto e = inspect(c, name);
  if (!e || e->holders.empty()) return shown(name) + " was held until just now";
  const auto& first = e->holders.front();
  std::string out = shown(name) + " is held by " + describe(first);
  if (e->holders.size() > 1) out += fmt::format(" and {} more", e->holders.size() - 1);
  out += fmt::format(" for {}; lease ends in {}; token {}; {} waiting", show(first.since),
                     show(first.lease_left), first.token, e->waiters.size());
  if (e->kind == usage::leased_semaphore) {
    std::uint64_t permits = 0;
    for (const auto& h : e->holders) permits += h.permits;
    out += fmt::format("; {} of {} permits are out", permits, e->limit);
  }
  return out;
}

}  // namespace afar::cli
