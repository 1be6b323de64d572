#include "audit_log.hpp"
#include "context.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/survey.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  std::uint64_t token = 0;
  std::string reason;
  bool yes = false;
  bool json = false;
};

// The hold that is to be broken. Throws failure if there is no such one.
claimant victim_of(const client& locks, const options& o) {
  const auto found = inspect(locks, o.name);
  if (!found || found->holders.empty())
    throw failure{exit_code::negative,
                  fmt::format("nobody holds {} on {}", shown(o.name), locks.url())};
  const auto victim = std::ranges::find(found->holders, o.token, &claimant::token);
  if (victim != found->holders.end()) return *victim;
  std::string tokens;
  for (const claimant& c : found->holders)
    tokens += fmt::format("{}{} ({})", tokens.empty() ? "" : ", ", c.token, place_of(c));
  throw failure{exit_code::negative, fmt::format("{} is not held with token {}; it is held with {}",
                                                 shown(o.name), o.token, tokens)};
}

bool agreed(const options& o, const claimant& c) {
  if (o.yes || ::isatty(STDIN_FILENO) == 0) return true;
  std::cerr << fmt::format(
      "Break the hold of {} on {}, held for {}? Only its token keeps it from writing. [y/N] ",
      in_words(c), shown(o.name), show(c.since));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int break_it(const options& o) {
  if (o.reason.find_first_not_of(" \t") == std::string::npos)
    throw failure{exit_code::usage, "--reason must say why"};
  const client locks = o.where.open();
  const claimant victim = victim_of(locks, o);
  if (!agreed(o, victim)) throw failure{exit_code::negative, "nothing was done"};

  const audit_log log;
  nlohmann::ordered_json record{{"event", "release"},    {"url", locks.url()},
                                {"name", o.name},        {"token", o.token},
                                {"reason", o.reason},    {"holder", in_words(victim)},
                                {"owner", victim.owner}, {"held_ms", victim.since.count()},
                                {"outcome", "ordered"}};
  log.add(record);  // before the deed: whatever happens now, it was written down
  const bool done = evict(locks, o.name, o.token);
  record["outcome"] = done ? "released" : "gone";
  log.add(record);
  if (!done) throw failure{exit_code::negative, shown(o.name) + " was let go in the meantime"};
  if (o.json) {
    print_json({{"name", o.name}, {"token", o.token}, {"released", true}, {"audit", log.path()}});
  } else {
    message(fmt::format(
        "{} released; {} learns of it when it renews, at most {} from now; recorded in {}",
        shown(o.name), place_of(victim), show(victim.lease_left), log.path()));
  }
  return number(exit_code::ok);
}

}  // namespace

work add_release(CLI::App& app) {
  const auto o = std::make_shared<options>();
  app.add_option("NAME", o->name, "What to release")->required();
  add_number(app, "--token", o->token, "Of the hold that is meant, as inspect shows it")
      ->required();
  app.add_option("--reason", o->reason, "Why; kept in the audit record")
      ->required()
      ->type_name("TEXT");
  app.add_flag("-y,--yes", o->yes, "Do not ask on a terminal");
  app.add_flag("--json", o->json, "As JSON");
  o->where.add_to(app);
  app.footer(
      "Breaks the hold of somebody else. He is told when he renews; until then only his token,\n"
      "which is now too old, keeps him from writing. Audit record: $AFAR_AUDIT, else\n"
      "$XDG_STATE_HOME/afar/audit.jsonl, and syslog.");
  return [o] { return break_it(*o); };
}

}  // namespace afar::cli
