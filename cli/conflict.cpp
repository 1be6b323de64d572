// Who is in the way, in words.
#include "duration.hpp"
#include "look.hpp"
#include "take.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace afar::cli {
namespace {

std::string describe(const spi::claimant& c) {
  const auto a = about(c);
  std::string out = a.place() + " (";
  if (!a.user.empty()) out += a.user + "@" + a.host + ", ";
  out += a.command.empty() ? "unknown command" : a.command;
  if (!a.label.empty()) out += ", " + a.label;
  return out + ")";
}

}  // namespace

std::string conflict(const client& c, const std::string& name) {
  const auto entries = look(c, name);
  const auto e = std::ranges::find_if(entries, [](const auto& x) { return !x.holders.empty(); });
  if (e == entries.end()) return name + " was held until just now";
  const auto& first = e->holders.front();
  std::string out = name + " is held by " + describe(first);
  if (e->holders.size() > 1) out += fmt::format(" and {} more", e->holders.size() - 1);
  out += fmt::format(" for {}; lease ends in {}; token {}; {} waiting", show(first.since),
                     show(first.lease_left), first.token, e->waiters.size());
  if (e->kind == spi::kind::permits) {
    std::uint32_t out_now = 0;
    for (const auto& h : e->holders) out_now += h.permits;
    out += fmt::format("; {} of {} permits are out", out_now, e->limit);
  }
  return out;
}

}  // namespace afar::cli
