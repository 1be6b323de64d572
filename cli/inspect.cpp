#include "context.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/survey.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  bool json = false;
};

// By this machine's calendar.
std::string since(milliseconds ago) {
  const auto then = std::chrono::system_clock::now() - ago;
  return fmt::format("since {:%Y-%m-%d %H:%M:%S}Z ({})",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(then)), show(ago));
}

void print_holder(const survey_entry& e, const claimant& c) {
  print(fmt::format("holder    {}  {}", in_words(c), since(c.since)));
  std::string more;
  if (e.kind == usage::leased_semaphore)
    more = fmt::format(", {} of {} permits", c.permits, e.limit);
  if (c.shared) more = ", reader";
  print(fmt::format("  lease   {} left{}", show(c.lease_left), more));
  print(fmt::format("  token   {}", c.token));
  print(fmt::format("  release afar release {} --token {} --reason \"…\"", shell_word(e.name),
                    c.token));
}

void print_page(const survey_entry& e, const std::string& engine) {
  print(fmt::format("name      {} ({}, {})", shown(e.name), word(e.kind), engine));
  print("state     " + state_of(e));
  for (const claimant& c : e.holders) print_holder(e, c);
  if (e.kind >= usage::counter) return;
  print(
      fmt::format("waiters   {}{}", e.waiters.size(), e.waiters.empty() ? "" : " (in this order)"));
  for (const claimant& c : e.waiters)
    print(fmt::format("          {}  waiting {}", in_words(c), show(c.since)));
}

int look_at(const options& o) {
  const client locks = o.where.open();
  const auto found = inspect(locks, o.name);
  if (o.json) print_json(found ? json_of(*found) : nlohmann::ordered_json{});
  if (!found) {
    message(shown(o.name) + " is not in use on " + locks.url());
    return number(exit_code::negative);
  }
  if (!o.json) print_page(*found, locks.url());
  return number(exit_code::ok);
}

}  // namespace

work add_inspect(CLI::App& app) {
  const auto o = std::make_shared<options>();
  app.add_option("NAME", o->name, "What to look at")->required();
  app.add_flag("--json", o->json, "As JSON; null if it is not in use");
  o->where.add_to(app);
  return [o] { return look_at(*o); };
}

}  // namespace afar::cli
