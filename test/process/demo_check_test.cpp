// The demo's checker must see what it is there for: planted violations are found, and what only
// looks like one is not.
#include "demo/check.hpp"

#include "scene.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace afar::test {
namespace {

namespace demo = cli::demo;
using demo::act;
using demo::fact;
using demo::life;

// One hold: asked, granted with a token until a time, released.
std::vector<fact> turn(std::int64_t asked, std::int64_t granted, std::int64_t until,
                       std::int64_t released, std::uint64_t token) {
  return {{act::asked, 0, asked, 0, 0},
          {act::granted, 0, granted, until, token},
          {act::releasing, 0, released, until, token}};
}

std::uint64_t overlaps_of(const std::vector<life>& lives) {
  return demo::overlaps(demo::beliefs(lives));
}
std::uint64_t disorder_of(const std::vector<life>& lives) {
  return demo::tokens_out_of_order(demo::beliefs(lives));
}

TEST(demo_check, accepts_turns_that_follow_each_other) {
  const std::vector<life> lives{{0, 0, turn(0, 10, 100, 20, 1)}, {1, 0, turn(5, 20, 110, 30, 2)}};
  EXPECT_EQ(overlaps_of(lives), 0U);
  EXPECT_EQ(disorder_of(lives), 0U);
}

TEST(demo_check, finds_two_holders_at_once) {
  EXPECT_EQ(overlaps_of({{0, 0, turn(0, 10, 100, 30, 1)}, {1, 0, turn(5, 20, 110, 40, 2)}}), 1U);
}

TEST(demo_check, finds_one_inside_a_longer_one) {
  EXPECT_EQ(overlaps_of({{0, 0, turn(0, 10, 100, 90, 1)},
                         {1, 0, turn(5, 20, 110, 30, 2)},
                         {2, 0, turn(5, 50, 110, 60, 3)}}),
            2U);
}

TEST(demo_check, ends_a_belief_with_its_lease) {
  EXPECT_EQ(overlaps_of({{0, 0, turn(0, 10, 40, 90, 1)}, {1, 0, turn(5, 40, 110, 50, 2)}}), 0U);
}

TEST(demo_check, ends_a_belief_with_the_news_of_its_loss) {
  std::vector<fact> told = turn(0, 10, 100, 90, 1);
  told.insert(told.begin() + 2, {act::told_lost, 0, 30, 0, 1});
  // Renewals could have moved the end; what was told stays told.
  EXPECT_EQ(overlaps_of({{0, 0, told}, {1, 0, turn(5, 40, 110, 50, 2)}}), 0U);
}

TEST(demo_check, ends_a_belief_with_the_death_of_its_process) {
  std::vector<fact> cut = turn(0, 10, 100, 90, 1);
  cut.pop_back();
  EXPECT_EQ(overlaps_of({{0, 0, cut, 30}, {1, 0, turn(5, 30, 110, 50, 2)}}), 0U);
  EXPECT_EQ(overlaps_of({{0, 0, cut}, {1, 0, turn(5, 30, 110, 50, 2)}}), 1U);
}

TEST(demo_check, finds_tokens_that_go_back_or_repeat) {
  EXPECT_EQ(disorder_of({{0, 0, turn(0, 10, 99, 20, 2)}, {1, 0, turn(15, 30, 99, 40, 1)}}), 1U);
  EXPECT_EQ(disorder_of({{0, 0, turn(0, 10, 99, 20, 2)}, {1, 0, turn(5, 30, 99, 40, 2)}}), 1U);
  // Asked before the other was answered: their order is nobody's promise.
  EXPECT_EQ(disorder_of({{0, 0, turn(0, 10, 99, 20, 2)}, {1, 0, turn(5, 30, 99, 40, 1)}}), 0U);
}

TEST(demo_check, reads_back_what_was_recorded) {
  const scene stage;
  demo::recorder record{stage.path("record")};
  record.note(act::asked);
  record.note(act::granted, 7, 99);
  const demo::history seen{stage.path("record")};
  const std::vector<fact> facts = seen.events();
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[1].what, act::granted);
  EXPECT_EQ(facts[1].token, 7U);
  EXPECT_EQ(facts[1].until, 99);
  EXPECT_LE(facts[0].at, facts[1].at);
  EXPECT_TRUE(seen.complete());
}

}  // namespace
}  // namespace afar::test
