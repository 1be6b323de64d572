#include "context.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/survey.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  std::uint64_t token = 0;
  bool json = false;
};

// A program with several threads may hand its lock on among them: the engine then knows the first
// token of the hold, and the last one that is reserved for it.
bool current(const survey_entry& e, std::uint64_t token) {
  if (e.holders.size() == 1 && !e.holders.front().shared && e.kind != usage::leased_semaphore)
    return e.holders.front().token <= token && token <= e.last_token;
  return std::ranges::find(e.holders, token, &claimant::token) != e.holders.end();
}

std::string refusal(const options& o, const std::optional<survey_entry>& found) {
  if (!found || found->holders.empty())
    return fmt::format("token {} is over: nobody holds {}", o.token, shown(o.name));
  const claimant& c = found->holders.front();
  return fmt::format("token {} is over: {} is held by {} with token {}", o.token, shown(o.name),
                     place_of(c), c.token);
}

int check(const options& o) {
  const client locks = o.where.open();
  const auto found = inspect(locks, o.name);
  const bool good = found && current(*found, o.token);
  if (o.json) print_json({{"name", o.name}, {"token", o.token}, {"current", good}});
  if (good) return number(exit_code::ok);
  message(refusal(o, found));
  return number(exit_code::negative);
}

}  // namespace

work add_check_token(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->name, "The lock").required();
  line.add_number("TOKEN", o->token, "The token to check").required();
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer(
      "Exit code 0: a hold with this token stands; 1: it is over.\n"
      "It may be over a moment later: what must never be written twice needs a fence beside\n"
      "the data, which remembers the largest token and refuses smaller ones.");
  return [o] { return check(*o); };
}

}  // namespace afar::cli
