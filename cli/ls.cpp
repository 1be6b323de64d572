#include "context.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "verbs.hpp"

#include <afar/survey.hpp>

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string pattern;
  bool json = false;
};

// The part of a pattern before its first special character: the engine need not send the rest.
std::string literal_beginning(const std::string& pattern) {
  return pattern.substr(0, pattern.find_first_of("*?[\\"));
}

std::vector<survey_entry> matching(const client& locks, const std::string& pattern) {
  auto found = survey(locks, literal_beginning(pattern));
  std::erase_if(found, [&](const survey_entry& e) {
    return !pattern.empty() && ::fnmatch(pattern.c_str(), e.name.c_str(), 0) != 0;
  });
  return found;
}

std::string holders_of(const survey_entry& e) {
  if (e.holders.empty()) return "-";
  if (e.holders.size() == 1) return place_of(e.holders.front());
  return fmt::format("{} holders", e.holders.size());
}

void print_table(const std::vector<survey_entry>& found, const std::string& engine) {
  table out{{{"NAME"},
             {"KIND"},
             {"STATE"},
             {"HOLDER"},
             {"HELD", align::right},
             {"LEASE", align::right},
             {"TOKEN", align::right},
             {"WAIT", align::right},
             {"ENGINE"}}};
  for (const survey_entry& e : found) {
    const auto longest = std::ranges::max_element(e.holders, {}, &claimant::since);
    const auto soonest = std::ranges::min_element(e.holders, {}, &claimant::lease_left);
    const auto newest = std::ranges::max_element(e.holders, {}, &claimant::token);
    const bool held = !e.holders.empty();
    out.add({shown(e.name), std::string{word(e.kind)}, state_of(e), holders_of(e),
             held ? show(longest->since) : "-", held ? show(soonest->lease_left) : "-",
             held ? std::to_string(newest->token) : "-", std::to_string(e.waiters.size()), engine});
  }
  out.print(stdout);
}

int list(const options& o) {
  const client locks = o.where.open();
  const auto found = matching(locks, o.pattern);
  if (o.json) {
    std::vector<json> out;
    out.reserve(found.size());
    for (const auto& e : found) out.push_back(json_of(e));
    print_json(out);
  } else if (found.empty()) {
    message("nothing is in use on " + locks.url() +
            (o.pattern.empty() ? "" : " that matches " + shown(o.pattern)));
  } else {
    print_table(found, locks.url());
  }
  return number(exit_code::ok);
}

}  // namespace

work add_ls(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("PATTERN", o->pattern, "Which names, as the shell matches files: 'stock/*'");
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  return [o] { return list(*o); };
}

}  // namespace afar::cli
