#include "audit_log.hpp"
#include "context.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/survey.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  std::uint64_t token = 0;  // 0: not given
  std::string reason;
  bool ask = false;
  bool yes = false;
  bool json = false;
};

// Who holds it, with the token if one is given. Throws failure if nobody does.
std::vector<claimant> holders_of(const client& locks, const options& o) {
  const auto found = inspect(locks, o.name);
  if (!found || found->holders.empty())
    throw failure{exit_code::negative,
                  fmt::format("nobody holds {} on {}", shown(o.name), locks.url())};
  if (o.token == 0) return found->holders;
  const auto meant = std::ranges::find(found->holders, o.token, &claimant::token);
  if (meant != found->holders.end()) return {*meant};
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

// Asking breaks nothing, so it needs no token: without one everybody who holds it is asked.
int ask_for_it(const options& o) {
  const client locks = o.where.open();
  std::vector<json> asked;
  for (const claimant& holder : holders_of(locks, o)) {
    if (!ask_back(locks, o.name, holder.token)) continue;
    asked.push_back(holder.token);
    if (!o.json) message(fmt::format("{} is asked to release {}", in_words(holder), shown(o.name)));
  }
  if (asked.empty())
    throw failure{exit_code::negative, shown(o.name) + " was let go in the meantime"};
  if (o.json) print_json({{"name", o.name}, {"asked", asked}});
  return number(exit_code::ok);
}

int break_it(const options& o) {
  if (o.token == 0) throw failure{exit_code::usage, "--token must say which hold is meant"};
  if (o.reason.find_first_not_of(" \t") == std::string::npos)
    throw failure{exit_code::usage, "--reason must say why"};
  const client locks = o.where.open();
  const claimant victim = holders_of(locks, o).front();
  if (!agreed(o, victim)) throw failure{exit_code::negative, "nothing was done"};

  const audit_log log;
  std::vector<json::field> record{{"event", "release"},    {"url", locks.url()},
                                  {"name", o.name},        {"token", o.token},
                                  {"reason", o.reason},    {"holder", in_words(victim)},
                                  {"owner", victim.owner}, {"held_ms", victim.since.count()},
                                  {"outcome", "ordered"}};
  log.add(record);  // before the deed: whatever happens now, it was written down
  const bool done = evict(locks, o.name, o.token);
  record.back().value = done ? "released" : "gone";
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

work add_release(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("NAME", o->name, "What to release").required();
  line.add_number("--token", o->token, "Of the hold that is meant, as inspect shows it");
  const auto reason = line.add_option("--reason", o->reason, "Why; kept in the audit record");
  reason.type_name("TEXT");
  line.add_flag("--ask", o->ask, "Ask the holder for it and break nothing (ZooKeeper)")
      .excludes(reason);
  line.add_flag("-y,--yes", o->yes, "Do not ask on a terminal");
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer(
      "Breaks the hold of somebody else. He is told when he renews; until then only his token,\n"
      "which is now too old, keeps him from writing. Audit record: $AFAR_AUDIT, else\n"
      "$XDG_STATE_HOME/afar/audit.jsonl, and syslog. With --ask he is only told, at once or when "
      "he\n"
      "renews, and may go on: no token and no reason are needed, and nothing is recorded.");
  return [o] { return o->ask ? ask_for_it(*o) : break_it(*o); };
}

}  // namespace afar::cli
