#include "peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using testing::ElementsAre;

TEST(bench_peers, have_a_command_or_a_reason_to_be_skipped) {
  const auto all = bench::parse_peers(
      "redis\tredsync\t/tmp/a b/peers\tredsync\nzookeeper\tkazoo\tskipped\tno network\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].engine, "redis");
  EXPECT_EQ(all[0].name, "redsync");
  EXPECT_THAT(all[0].command, ElementsAre("/tmp/a b/peers", "redsync"));
  EXPECT_EQ(all[0].skipped, "");
  EXPECT_EQ(all[1].skipped, "no network");
}

TEST(bench_peers, without_a_command_make_no_sense) {
  EXPECT_THROW(bench::parse_peers("redis\tredsync\n"), std::runtime_error);
}

TEST(bench_peers, answer_in_json_of_any_spacing) {
  for (const char* line :
       {R"({"pairs": 120, "seconds": 0.5, "p50": 21.5, "p99": 1e2, "version": "4.7.0"})",
        R"({"version":"v4.7.0","pairs":120,"seconds":0.5,"p50":21.5,"p99":100})"}) {
    const bench::pairs_answer a = bench::parse_answer(line);
    EXPECT_EQ(a.pairs, 120);
    EXPECT_EQ(a.seconds, 0.5);
    EXPECT_EQ(a.p50, 21.5);
    EXPECT_EQ(a.p99, 100);
    EXPECT_EQ(a.version, "4.7.0");
  }
}

TEST(bench_peers, that_did_nothing_or_answer_nonsense_are_an_error) {
  EXPECT_THROW(bench::parse_answer("Traceback (most recent call last):"), std::runtime_error);
  EXPECT_THROW(
      bench::parse_answer(R"({"pairs": 0, "seconds": 1, "p50": 0, "p99": 0, "version": ""})"),
      std::runtime_error);
}

}  // namespace
