#include "shown.hpp"

#include "core/visible.hpp"
#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace afar::cli {
namespace {

using fields = std::vector<json::field>;
using std::chrono::milliseconds;

json json_of(const claimant& c) {
  fields out{{"owner", c.owner}};
  if (c.token != 0) out.push_back({"token", c.token});
  out.push_back({"mode", c.shared ? "shared" : "exclusive"});
  out.push_back({"permits", c.permits});
  out.push_back({"since_ms", c.since.count()});
  out.push_back({"lease_left_ms", c.lease_left.count()});
  out.push_back({"host", c.host});
  out.push_back({"pid", c.pid});
  out.push_back({"user", c.user});
  out.push_back({"command", c.command});
  out.push_back({"label", c.label});
  if (!c.value.empty()) out.push_back({"value", c.value});
  if (c.lease != milliseconds{0}) out.push_back({"lease_ms", c.lease.count()});
  if (c.renewed) out.push_back({"renewed_ms_ago", c.renewed->count()});
  if (c.renewals) out.push_back({"renewals", *c.renewals});
  return out;
}

json json_of(const past_hold& p) {
  fields out{{"ended", ending(p.why)},
             {"token", p.token},
             {"held_ms", p.held.count()},
             {"ended_ms_ago", p.ago.count()}};
  if (!p.host.empty()) out.push_back({"host", p.host});
  if (p.pid != 0) out.push_back({"pid", p.pid});
  return out;
}

template <class T>
json json_of(const std::vector<T>& all) {
  std::vector<json> out;
  out.reserve(all.size());
  for (const T& one : all) out.push_back(json_of(one));
  return out;
}

// What only some engines tell.
void add_text(fields& to, std::string_view name, const std::string& text) {
  if (!text.empty()) to.push_back({name, text});
}

// Who has it, of the kinds that have owners.
std::string occupied(const survey_entry& e) {
  if (e.holders.empty()) return "free";
  if (e.holders.front().shared)
    return fmt::format("{} reader{}", e.holders.size(), e.holders.size() == 1 ? "" : "s");
  return "held";
}

}  // namespace

std::string shown(std::string_view text) { return detail::visible(text, 200); }

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view{"_-./:@%+=,"}.find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return std::string{text};
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return shown(out + "'");
}

std::string place_of(const claimant& c) {
  if (c.host.empty() && c.pid == 0) return "-";
  return shown(c.host) + ":" + std::to_string(c.pid);
}

std::string in_words(const claimant& c) {
  std::string out = c.host.empty() ? "somebody" : shown(c.host);
  if (c.pid != 0) out += fmt::format(" pid {}", c.pid);
  if (!c.user.empty()) out += " user " + shown(c.user);
  if (!c.command.empty()) out += "  cmd " + shown(c.command);
  if (!c.label.empty()) out += "  label " + shown(c.label);
  if (!c.value.empty()) out += "  proclaims " + shown(c.value);
  return out;
}

std::string_view ending(loss_reason why) noexcept {
  if (why == loss_reason::none) return "released";
  return why == loss_reason::session ? "died" : word(why);
}

std::string state_of(const survey_entry& e) {
  switch (e.kind) {
    case usage::mutex:
    case usage::fair_mutex:
    case usage::shared_mutex:
    case usage::election:
      return occupied(e);
    case usage::leased_semaphore: {
      const auto out =
          std::accumulate(e.holders.begin(), e.holders.end(), std::uint64_t{0},
                          [](std::uint64_t n, const claimant& c) { return n + c.permits; });
      return fmt::format("{}/{}", out, e.limit);
    }
    case usage::barrier:
      return fmt::format("{}/{}", e.waiters.size(), e.limit);
    case usage::counter:
      return fmt::format("{}", e.value);
    case usage::latch:
      return e.value == 0 ? "open" : fmt::format("{} to go", e.value);
    case usage::counting_semaphore:
      return fmt::format("{} free", e.value);
    case usage::stock:
      return fmt::format("{} left", e.value);
  }
  return "";
}

json json_of(const survey_entry& e) {
  fields out{{"name", e.name}, {"kind", word(e.kind)}, {"state", state_of(e)}};
  if (e.kind == usage::leased_semaphore || e.kind == usage::barrier)
    out.push_back({"limit", e.limit});
  add_text(out, "key", e.key);
  add_text(out, "format", e.format);
  if (e.kind >= usage::counter) {
    out.push_back({"value", e.value});
    return out;
  }
  out.push_back({"last_token", e.last_token});
  add_text(out, "token_source", e.token_source);
  out.push_back({"holders", json_of(e.holders)});
  out.push_back({"waiters", json_of(e.waiters)});
  out.push_back({"history", json_of(e.history)});
  return out;
}

}  // namespace afar::cli
