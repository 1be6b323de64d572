#include "doctor/probe.hpp"

#include "context.hpp"
#include "failure.hpp"
#include "json.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

namespace afar::cli {
namespace {

using grade = finding::grade;

struct options {
  context where;
  std::string url;
  bool json = false;
};

struct examination {
  std::string url;
  std::vector<finding> findings;

  long count(grade g) const { return std::ranges::count(findings, g, &finding::how); }
};

const char* word(grade g) {
  switch (g) {
    case grade::ok:
      return "ok";
    case grade::warning:
      return "WARN";
    case grade::failure:
      return "FAIL";
  }
  return "";
}

// What can be asked only once it is open. An engine that fails here is told about, not reported as
// an error of this command.
void examine_engine(const doctor::opener& open, examination& e) {
  try {
    const client locks = open({});
    e.url = locks.url();
    e.findings = examine(locks);
    e.findings.push_back(doctor::round_trip(locks));
    e.findings.push_back(doctor::probe(open));
  } catch (const lock_error& error) {
    if (error.code() == errc::bad_url) throw;
    if (e.url.empty()) e.url = error.resource();
    e.findings.push_back(
        {grade::failure, "engine", words_of(error), "nothing can be locked before this is mended"});
  }
}

void print_page(const examination& e) {
  print("engine " + e.url);
  for (const finding& f : e.findings)
    print(fmt::format("{:<4} {:<11} {}{}", word(f.how), f.topic, shown(f.text),
                      f.way_out.empty() ? "" : " → " + shown(f.way_out)));
  const auto failures = e.count(grade::failure);
  const auto warnings = e.count(grade::warning);
  print(fmt::format("{} problem{}, {} warning{}", failures, failures == 1 ? "" : "s", warnings,
                    warnings == 1 ? "" : "s"));
}

void print_findings(const examination& e) {
  std::vector<json> all;
  all.reserve(e.findings.size());
  for (const finding& f : e.findings)
    all.push_back(
        {{"grade", word(f.how)}, {"topic", f.topic}, {"text", f.text}, {"way_out", f.way_out}});
  print_json({{"url", e.url},
              {"problems", e.count(grade::failure)},
              {"warnings", e.count(grade::warning)},
              {"findings", all}});
}

int diagnose(const options& o) {
  const doctor::opener open = [&o](client_options how) {
    return o.url.empty() ? o.where.open(std::move(how)) : client{o.url, std::move(how)};
  };
  examination e;
  examine_engine(open, e);
  for (auto& f : doctor::examine_machine()) e.findings.push_back(std::move(f));
  // Worst first; the order of the checks otherwise. Not stable_sort: clang calls libstdc++'s deprecated.
  std::vector<finding> sorted;
  for (const auto how : {grade::failure, grade::warning, grade::ok})
    std::ranges::copy(e.findings | std::views::filter([&](auto& f) { return f.how == how; }),
                      std::back_inserter(sorted));
  e.findings = std::move(sorted);
  o.json ? print_findings(e) : print_page(e);
  return number(e.count(grade::failure) == 0 ? exit_code::ok : exit_code::negative);
}

}  // namespace

work add_doctor(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("URL", o->url, "The engine; else as for every verb");
  line.add_flag("--json", o->json, "As JSON");
  o->where.add_to(line);
  line.footer(
      "Exit code 1: a FAIL was found. Changes nothing but a name of its own, which it tries.");
  return [o] { return diagnose(*o); };
}

}  // namespace afar::cli
