// What the benchmarks make of their figures: verdicts, tables, JSON, pictures.
#include "report.hpp"
#include "growth.hpp"
#include "picture.hpp"
#include "tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using bench::goal;
using bench::goal_kind;
using bench::report;
using bench::row;
using bench::series;
using testing::HasSubstr;
using testing::Not;

constexpr goal twice{goal_kind::at_least, 2};

row row_of(double ratio, double spread, goal g = twice) {
  return {.id = "P0",
          .what = "work",
          .afar = 10,
          .limit = 5,
          .ratio = ratio,
          .goal = g,
          .spread = spread};
}

TEST(bench_report, counts_a_goal_as_met_if_the_rounds_agree) {
  const report seven{7};
  EXPECT_TRUE(seven.met(row_of(2.1, 0.1)));
  EXPECT_FALSE(seven.met(row_of(1.9, 0.1)));
  EXPECT_TRUE(seven.met(row_of(1.9, 0.1, {goal_kind::at_most, 2})));
}

TEST(bench_report, marks_nothing_as_met_whose_spread_is_over_30_per_cent) {
  const report seven{7};
  EXPECT_TRUE(seven.met(row_of(3, 0.30)));
  EXPECT_FALSE(seven.met(row_of(3, 0.31)));
  EXPECT_EQ(seven.verdict(row_of(3, 0.31)), "not met: unsteady");
}

TEST(bench_report, marks_nothing_as_met_with_fewer_than_seven_rounds) {
  const report six{6};
  EXPECT_FALSE(six.met(row_of(3, 0.1)));
  EXPECT_EQ(six.verdict(row_of(3, 0.1)), "not met: too few rounds");
  EXPECT_EQ(six.verdict(row_of(1, 0.1)), "NOT MET");
}

report filled() {
  report r{7};
  r.set_machine("a \"machine\"");
  r.add(row_of(2.5, 0.1));
  r.add(row{.id = "heap", .what = "operator new per pair", .afar = 3});
  r.add(bench::cost{
      .group = "P17: 1 worker", .who = "afar", .rate = 50'000, .p50 = 20.5, .commands = 2});
  r.add(bench::cost{.group = "P17: 1 worker", .who = "A & B 1.0", .rate = 25'000});
  bench::growth g{"waiters", "Redis, µs per grant"};
  for (const double v : {9.0, 10.0, 11.0}) g.add(1, v), g.add(1'000, 2 * v);
  g.tell(r, bench::flat);
  r.skip("P17: gone: no registry");
  return r;
}

TEST(bench_report, is_json) {
  const auto j = nlohmann::json::parse(filled().json());
  EXPECT_EQ(j["machine"], "a \"machine\"");
  EXPECT_EQ(j["rows"][0]["met"], true);
  EXPECT_EQ(j["rows"][0]["goal"], ">= 2");
  EXPECT_TRUE(j["rows"][1]["met"].is_null());
  EXPECT_EQ(j["costs"][0]["commands"], 2);
  EXPECT_TRUE(j["costs"][1]["commands"].is_null());
  EXPECT_EQ(j["curves"][0]["points"][1]["at"], 1'000);
  EXPECT_EQ(j["curves"][0]["points"][1]["value"], 20);
  EXPECT_EQ(j["skipped"][0], "P17: gone: no registry");
}

TEST(bench_report, compares_the_largest_size_with_the_smallest) {
  const row last = filled().rows().back();
  EXPECT_EQ(last.id, "growth");
  EXPECT_EQ(last.ratio, 2);
  EXPECT_FALSE(filled().met(last));
}

// Every line of a table has as many cells as its head.
TEST(bench_report, is_tables) {
  const std::string text = bench::all_tables(filled());
  EXPECT_THAT(text, HasSubstr("| P0 | work | 10 | 5 | 2.5 | ≥ 2 | 10 % | met |"));
  EXPECT_THAT(text, HasSubstr("| afar | 50000 | 0 % | 20.5 | – |"));
  EXPECT_THAT(text, HasSubstr("| Redis, µs per grant | 10 (± 5 %) | 20 (± 5 %) |"));
  EXPECT_THAT(text, HasSubstr("- P17: gone: no registry"));
  std::ptrdiff_t cells = 0;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    const auto bars = std::count(line.begin(), line.end(), '|');
    if (bars > 0 && cells > 0) {
      EXPECT_EQ(bars, cells) << line;
    }
    cells = bars;
  }
}

// Enough of an XML parser for what is drawn: tags that are closed, text without bare signs.
void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != svg.npos; at = svg.find('<', at + 1)) {
    const auto end = svg.find('>', at);
    ASSERT_NE(end, svg.npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), tag.npos) << tag;
    if (tag.ends_with('/')) continue;
    const std::string name = tag.substr(0, tag.find(' '));
    if (name.starts_with('/')) {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ("/" + open.back(), name);
      open.pop_back();
    } else {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(bench_report, is_pictures) {
  const report r = filled();
  const std::string goals = bench::picture_of_goals(r);
  expect_well_formed(goals);
  EXPECT_THAT(goals, HasSubstr("P0  work"));
  EXPECT_THAT(goals, Not(HasSubstr("operator new")));  // it has no goal
  const std::string costs = bench::picture_of_costs(r.costs(), "P17: 1 worker");
  expect_well_formed(costs);
  EXPECT_THAT(costs, HasSubstr("A &amp; B 1.0"));
  const std::string curves = bench::picture_of_curves(r.curves(), "waiters");
  expect_well_formed(curves);
  EXPECT_THAT(curves, HasSubstr("Redis, µs per grant"));
}

}  // namespace
