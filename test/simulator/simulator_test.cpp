// Schedules by their seeds. AFAR_SCHEDULES says how many in all, AFAR_FIRST_SEED from where on (1), AFAR_SEED
// which one replays_a_seed takes.
#include "simulator/schedule.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

using namespace afar::test;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Whole, with every event and how to see it again.
std::string story_of(std::uint64_t seed) {
  const auto told = run_schedule(seed, world::record::text);
  return told.text + "seed " + std::to_string(seed) + ": " + told.failure +
         "\nagain: AFAR_SEED=" + std::to_string(seed) + " " + program_invocation_name +
         " --gtest_filter=simulator.replays_a_seed\n";
}

constexpr std::uint64_t shards = 8;

class schedules : public testing::TestWithParam<std::uint64_t> {};

TEST_P(schedules, keep_every_promise) {
  const auto each = from_environment("AFAR_SCHEDULES", 4'000) / shards;
  const auto first = from_environment("AFAR_FIRST_SEED", 1);
  tally all;
  for (std::uint64_t i = 0; i < each; ++i) {
    const auto seed = first + GetParam() + i * shards;
    const auto o = run_schedule(seed, world::record::digest);
    all += o.counted;
    ASSERT_TRUE(o.failure.empty()) << story_of(seed);
  }
  std::cout << each << " schedules, " << all.events << " events, " << all.calls << " calls ("
            << all.blocked << " blocked), " << all.grants << " grants, " << all.given_up
            << " given up, " << all.taken << " taken, " << all.lost << " lost, " << all.reused
            << " taken again, " << all.pauses << " pauses, " << all.crashes << " crashes, "
            << all.cuts << " cuts, " << all.closes << " closes\n";
  // Else it proves little.
  EXPECT_GT(all.grants, 2 * each);
  EXPECT_GT(all.taken, each);
  for (const auto happened : {all.blocked, all.given_up, all.lost, all.reused, all.pauses,
                              all.crashes, all.cuts, all.closes})
    EXPECT_GT(happened, each / 20);
}

INSTANTIATE_TEST_SUITE_P(of_seeds, schedules, testing::Range<std::uint64_t>(0, shards));

TEST(simulator, replays_a_seed) {
  const auto seed = from_environment("AFAR_SEED", 1);
  const auto o = run_schedule(seed, world::record::text);
  EXPECT_TRUE(o.failure.empty()) << o.text << o.failure;
  EXPECT_FALSE(o.text.empty());
}

TEST(simulator, runs_a_seed_the_same_way_twice) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto once = run_schedule(seed, world::record::text);
    const auto again = run_schedule(seed, world::record::text);
    ASSERT_EQ(once.text, again.text) << "seed " << seed;
    EXPECT_EQ(once.digest, again.digest);
    EXPECT_EQ(run_schedule(seed, world::record::digest).digest, once.digest);
  }
}

TEST(simulator, runs_two_seeds_in_two_ways) {
  EXPECT_NE(run_schedule(1, world::record::digest).digest,
            run_schedule(2, world::record::digest).digest);
}

}  // namespace
