// What a verdict looks like, for people, programs and as a page.
#include "torture/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace afar::torture {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t ms = 1'000'000;

verdict of(sort s) {
  verdict v;
  v.seed = 42;
  v.url = "redis://cache";
  v.searched = {.operations = 17, .histories = 3, .left_out = 2};
  v.uses = {{"latch", 5}};
  v.bites = {{"kill a holder", 2}};
  v.seen.objects = {{sort::mutex, "y"}, {s, "x"}};
  life l{3, 1, {}, never};
  l.facts = {{.what = act::changing, .object = 1, .at = 990 * ms, .weight = 1},
             {.what = act::changed, .object = 1, .at = 1'010 * ms, .weight = 1},
             {.what = act::asked, .object = 1, .at = 980 * ms, .weight = 1},
             {.what = act::granted, .object = 1, .at = 995 * ms, .until = 1'020 * ms, .token = 9}};
  v.seen.lives = {l};
  v.seen.incidents = {{"kill <a> holder", 950 * ms, 960 * ms, true}};
  return v;
}

TEST(torture_report, tells_kept_broken_and_proving_nothing_apart) {
  verdict v = of(sort::latch);
  EXPECT_EQ(v.is(), outcome::kept);
  EXPECT_TRUE(v.green());
  v.invalid = {"never bit: delay"};
  EXPECT_EQ(v.is(), outcome::proves_nothing);
  EXPECT_FALSE(v.green());
  EXPECT_THAT(as_text(v, "again"), HasSubstr("Promises: INVALID"));
  v.violations = {{"a latch opens once", 1, 1'000 * ms, "it opened"}};
  EXPECT_EQ(v.is(), outcome::broken) << "also then";
  EXPECT_THAT(as_text(v, "again"), HasSubstr("Promises: BROKEN"));
}

TEST(torture_report, says_how_much_was_used_and_searched_and_how_to_do_it_again) {
  verdict v = of(sort::latch);
  EXPECT_THAT(as_text(v, "again"), HasSubstr("used: latch 5"));
  EXPECT_THAT(as_text(v, "again"),
              HasSubstr("17 operations in 3 histories searched for an order, 2 left out"));
  EXPECT_THAT(as_text(v, "again"), HasSubstr("seed 42"));
  const auto j = nlohmann::json::parse(as_json(v, "afar torture --seed 42"));
  EXPECT_EQ(j.at("outcome"), "kept");
  EXPECT_EQ(j.at("seed"), 42);
  EXPECT_EQ(j.at("searched").at("operations"), 17);
  EXPECT_EQ(j.at("uses").at("latch"), 5);
  EXPECT_EQ(j.at("faults").at("kill a holder"), 2);
  EXPECT_EQ(j.at("replay"), "afar torture --seed 42");
}

TEST(torture_report, pictures_what_processes_held_around_the_first_violation) {
  verdict v = of(sort::fair_mutex);
  v.violations = {{"one holder at a time", 1, 1'000 * ms, "two had it"}};
  const std::string page = as_page(v, "afar torture --seed 42");
  EXPECT_THAT(page, HasSubstr("worker 3.1, token 9"));
  EXPECT_THAT(page, HasSubstr("kill &lt;a> holder"));
  EXPECT_THAT(page, HasSubstr("200 ms of fair_mutex"));
  EXPECT_THAT(page, HasSubstr("the first violation"));
  EXPECT_THAT(page, HasSubstr("Seed 42. Again: <code>afar torture --seed 42</code>"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(torture_report, pictures_what_processes_asked_where_nobody_holds) {
  verdict v = of(sort::latch);
  v.violations = {{"a latch opens once", 1, 1'000 * ms, "it opened"}};
  const std::string page = as_page(v, "again");
  EXPECT_THAT(page, HasSubstr("worker 3.1, round 0: change done"));
  EXPECT_THAT(page, HasSubstr("200 ms of latch"));
}

TEST(torture_report, pictures_the_first_fault_if_nothing_broke) {
  const std::string page = as_page(of(sort::latch), "again");
  EXPECT_THAT(page, HasSubstr("kill &lt;a> holder"));
  EXPECT_THAT(page, Not(HasSubstr("the first violation")));
}

}  // namespace
}  // namespace afar::torture
