#include "options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

bench::options parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "afar_bench");
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& w : words) arguments.push_back(w.data());
  return bench::parse(static_cast<int>(arguments.size()), arguments.data());
}

TEST(bench_options, measure_everything_in_seven_rounds_unless_told) {
  const bench::options o = parsed({});
  EXPECT_EQ(o.rounds, 7);
  EXPECT_TRUE(o.wants("P17"));
  EXPECT_TRUE(o.wants_engine("redis"));
  EXPECT_EQ(o.json, "");
}

TEST(bench_options, choose_rows_and_engines) {
  const bench::options o = parsed({"--rows", "P1,P17", "--engine", "redis"});
  EXPECT_TRUE(o.wants("P17"));
  EXPECT_FALSE(o.wants("P2"));
  EXPECT_TRUE(o.wants_engine("redis"));
  EXPECT_FALSE(o.wants_engine("zookeeper"));
}

TEST(bench_options, write_json_to_standard_output_or_to_a_file) {
  EXPECT_EQ(parsed({"--json"}).json, "-");
  EXPECT_EQ(parsed({"--json", "--rounds", "3"}).json, "-");
  EXPECT_EQ(parsed({"--json", "out.json", "--rounds", "3"}).json, "out.json");
}

TEST(bench_options, that_make_no_sense_end_with_2) {
  EXPECT_EXIT(parsed({"--rounds"}), testing::ExitedWithCode(2), "afar_bench");
  EXPECT_EXIT(parsed({"--rounds", "0"}), testing::ExitedWithCode(2), "afar_bench");
  EXPECT_EXIT(parsed({"--round", "1"}), testing::ExitedWithCode(2), "afar_bench");
}

}  // namespace
