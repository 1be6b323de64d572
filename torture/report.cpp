#include "torture/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace afar::torture {
namespace {

std::string object_of(const verdict& v, const violation& what) {
  return what.object < v.seen.objects.size() ? std::string{word(v.seen.objects[what.object].sort)}
                                             : std::string{};
}

// What was done to the run shortly before.
std::string lately(const verdict& v, std::int64_t at) {
  std::string out;
  for (const incident& i : v.seen.incidents)
    if (i.from < at && i.to > at - 2'000'000'000)
      out +=
          fmt::format("{}{} {:.0f} to {:.0f} ms before", out.empty() ? "; " : ", ", i.fault,
                      static_cast<double>(at - i.from) / 1e6, static_cast<double>(at - i.to) / 1e6);
  return out;
}

const char* word(outcome is) {
  switch (is) {
    case outcome::kept:
      return "kept";
    case outcome::broken:
      return "BROKEN";
    case outcome::proves_nothing:
      return "INVALID";
  }
  return "";
}

}  // namespace

std::string as_text(const verdict& v, const std::string& replay) {
  std::string out = fmt::format(
      "{}  {:.0f} s, seed {}\n"
      "  {} grants, {} changes, {} writes under a fence, {} stale ones refused\n"
      "  {} kills, {} stops, {} answers lost\n",
      v.url, v.seconds, v.seed, v.grants, v.changes, v.writes, v.refused_writes, v.kills, v.stops,
      v.lost_answers);
  std::string uses;
  for (const auto& [name, times] : v.uses)
    uses += fmt::format("{}{} {}", uses.empty() ? "" : ", ", name, times);
  if (!uses.empty()) out += "  used: " + uses + '\n';
  out += fmt::format("  {} operations in {} histories searched for an order, {} left out\n",
                     v.searched.operations, v.searched.histories, v.searched.left_out);
  for (const auto& [name, times] : v.bites)
    out += fmt::format("  {:<28} bit {:>5} times\n", name, times);
  for (const std::string& what : v.left_out) out += "  left out: " + what + '\n';
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(v.violations.size(), most); ++i) {
    const violation& what = v.violations[i];
    out += fmt::format("  BROKEN {} ({}): {}\n", what.rule, object_of(v, what),
                       what.text + lately(v, what.at));
  }
  if (v.violations.size() > most) out += fmt::format("  and {} more\n", v.violations.size() - most);
  if (!v.outside.empty())
    out += fmt::format("  outside of the guarantees: {}, the first: {} ({})\n", v.outside.size(),
                       v.outside.front().text, v.outside.front().rule);
  for (const std::string& why : v.invalid) out += "  INVALID " + why + '\n';
  out += fmt::format("Promises: {}.{}\n", word(v.is()), v.green() ? "" : " Again: " + replay);
  return out;
}

std::string as_json(const verdict& v, const std::string& replay) {
  nlohmann::json j{{"url", v.url},
                   {"seed", v.seed},
                   {"seconds", v.seconds},
                   {"grants", v.grants},
                   {"changes", v.changes},
                   {"writes", v.writes},
                   {"stale_writes_refused", v.refused_writes},
                   {"kills", v.kills},
                   {"stops", v.stops},
                   {"answers_lost", v.lost_answers},
                   {"outside", v.outside.size()},
                   {"outcome", word(v.is())},
                   {"invalid", v.invalid},
                   {"left_out", v.left_out},
                   {"replay", replay}};
  j["searched"] = {{"operations", v.searched.operations},
                   {"histories", v.searched.histories},
                   {"left_out", v.searched.left_out}};
  j["uses"] = nlohmann::json::object();
  for (const auto& [name, times] : v.uses) j["uses"][name] = times;
  j["faults"] = nlohmann::json::object();
  for (const auto& [name, times] : v.bites) j["faults"][name] = times;
  j["violations"] = nlohmann::json::array();
  for (const violation& what : v.violations)
    j["violations"].push_back({{"rule", what.rule},
                               {"object", object_of(v, what)},
                               {"at", what.at},
                               {"text", what.text}});
  return j.dump(2) + '\n';
}

}  // namespace afar::torture
