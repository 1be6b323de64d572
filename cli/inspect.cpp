#include "context.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/survey.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  bool json = false;
};

// By this machine's calendar.
std::string date(milliseconds ago) {
  const auto then = std::chrono::system_clock::now() - ago;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

std::string lease_of(const claimant& c) {
  std::string out;
  if (c.lease != milliseconds{0}) out += show(c.lease) + ", ";
  if (c.renewed) out += "renewed " + show(*c.renewed) + " ago, ";
  out += show(c.lease_left) + " left";
  if (c.renewals) out += fmt::format(", renewals {}", *c.renewals);
  return out;
}

// "released 2026-11-15 06:27:59Z  pid 4711  token 8840  held 58m"
std::string line_of(const past_hold& p) {
  std::string out = std::string{ending(p.why)} + " " + date(p.ago);
  if (!p.host.empty()) out += "  " + shown(p.host);
  if (p.pid != 0) out += fmt::format("  pid {}", p.pid);
  return out + fmt::format("  token {}  held {}", p.token, show(p.held));
}

void print_holder(const survey_entry& e, const claimant& c) {
  print(fmt::format("holder    {}  since {} ({})", in_words(c), date(c.since), show(c.since)));
  std::string more;
  if (e.kind == usage::leased_semaphore)
    more = fmt::format(", {} of {} permits", c.permits, e.limit);
  if (c.shared) more = ", reader";
  print("  lease   " + lease_of(c) + more);
  print(fmt::format("  token   {}{}", c.token,
                    e.token_source.empty() ? "" : " (source: " + shown(e.token_source) + ")"));
  print(fmt::format("  release afar release {} --token {} --reason \"…\"", shell_word(e.name),
                    c.token));
}

void print_page(const survey_entry& e, const std::string& engine) {
  print(fmt::format("name      {} ({}, {}{}){}", shown(e.name), word(e.kind), engine,
                    e.key.empty() ? "" : ", key " + shown(e.key),
                    e.format.empty() ? "" : "   format " + shown(e.format)));
  print("state     " + state_of(e));
  for (const claimant& c : e.holders) print_holder(e, c);
  if (e.kind >= usage::counter) return;
  print(
      fmt::format("waiters   {}{}", e.waiters.size(), e.waiters.empty() ? "" : " (in this order)"));
  for (const claimant& c : e.waiters)
    print(fmt::format("          {}  waiting {}", in_words(c), show(c.since)));
  const char* margin = "history   ";
  for (const past_hold& past : e.history) {
    print(margin + line_of(past));
    margin = "          ";
  }
}

int look_at(const options& o) {
  const client locks = o.where.open();
  const auto found = inspect(locks, o.name);
  if (o.json) print_json(found ? json_of(*found) : json{});
  if (!found) {
    message(shown(o.name) + " is not in use on " + locks.url());
    return number(exit_code::negative);
  }
  if (!o.json) print_page(*found, locks.url());
  return number(exit_code::ok);
}

}  // namespace

work add_inspect(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->name, "What to look at").required();
  line.add_flag("--json", o->json, "As JSON; null if it is not in use");
  o->where.add_to(line);
  return [o] { return look_at(*o); };
}

}  // namespace afar::cli
