// afar count, latch, stock.
#include "verbs_fixture.hpp"

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class cells : public verbs {};

TEST_F(cells, count_reads_and_changes) {
  EXPECT_EQ(run({"count", "n"}).out, "0\n");
  EXPECT_EQ(run({"count", "n", "add"}).out, "1\n");
  EXPECT_EQ(run({"count", "n", "add", "5"}).out, "6\n");
  EXPECT_EQ(run({"count", "n", "sub", "2"}).out, "4\n");
  EXPECT_EQ(run({"count", "n", "set", "9"}).out, "9\n");
  EXPECT_EQ(counter(locks, "n").load(), 9);
  EXPECT_EQ(json_of({"count", "n"}).at("value"), 9);
  EXPECT_EQ(run({"count", "n", "erase"}).out, "0\n");
}

TEST_F(cells, count_stays_within_bounds) {
  EXPECT_EQ(run({"count", "n", "add", "3", "--max", "5"}).code, 0);
  const auto a = run({"count", "n", "add", "3", "--max", "5"});
  EXPECT_EQ(a.code, 1);
  EXPECT_EQ(a.out, "");
  EXPECT_THAT(a.err, HasSubstr("n is 3; +3 would leave"));
  EXPECT_EQ(counter(locks, "n").load(), 3);
}

TEST_F(cells, count_waits_for_a_change) {
  counter n{locks, "n"};
  n.store(1);
  auto p = start({"count", "n", "wait", "1"});
  n.store(2);
  EXPECT_EQ(p.ends(), 0);
  EXPECT_EQ(p.out(), "2\n");
  EXPECT_EQ(run({"count", "n", "wait", "2", "-w", "30ms"}).code, 75);
}

TEST_F(cells, count_refuses_wrong_use) {
  EXPECT_EQ(run({"count"}).code, 64);
  EXPECT_EQ(run({"count", "n", "double"}).code, 64);
  EXPECT_EQ(run({"count", "n", "set"}).code, 64);
  EXPECT_EQ(run({"count", "n", "add", "much"}).code, 64);
  const auto huge = run({"count", "n", "set", "99999999999999999999"});
  EXPECT_EQ(huge.code, 64);
  EXPECT_THAT(huge.err, HasSubstr("is no number from -9223372036854775808"));
  const hold lock = mutex(locks, "lock").acquire();
  const auto a = run({"count", "lock", "add"});
  EXPECT_EQ(a.code, 64);
  EXPECT_THAT(a.err, HasSubstr("mutex"));
}

TEST_F(cells, latch_counts_down_and_opens) {
  EXPECT_EQ(run({"latch", "go"}).code, 1);
  EXPECT_EQ(run({"latch", "go", "--count", "3"}).out, "3\n");
  auto p = start({"latch", "go", "wait"});
  EXPECT_EQ(run({"latch", "go", "down"}).out, "2\n");
  EXPECT_EQ(run({"latch", "go", "wait", "-w", "30ms"}).code, 75);
  EXPECT_TRUE(p.running());
  EXPECT_EQ(run({"latch", "go", "down", "2"}).out, "0\n");
  EXPECT_EQ(p.ends(), 0);
  EXPECT_EQ(json_of({"latch", "go"}).at("remaining"), 0);
}

TEST_F(cells, latch_arrives_and_waits) {
  auto one = start({"latch", "go", "arrive", "--count", "2"});
  auto two = start({"latch", "go", "arrive", "--count", "2"});
  EXPECT_EQ(one.ends(), 0);
  EXPECT_EQ(two.ends(), 0);
}

TEST_F(cells, stock_is_sold_and_never_oversold) {
  EXPECT_EQ(run({"stock", "s"}).code, 1);
  EXPECT_EQ(run({"stock", "s", "set", "3"}).code, 0);
  EXPECT_EQ(run({"stock", "s", "take", "2", "--order", "a"}).out,
            "remaining 1  reserved 0  taken 2\n");
  EXPECT_EQ(run({"stock", "s", "take", "2", "--order", "a"}).code, 0);  // the same order
  const auto a = run({"stock", "s", "take", "2", "--order", "b"});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.err, HasSubstr("s: sold"));
  EXPECT_EQ(run({"stock", "s", "put-back", "--order", "a"}).code, 0);
  EXPECT_EQ(json_of({"stock", "s"}).at("remaining"), 3);
}

TEST_F(cells, stock_is_reserved_and_committed_or_cancelled) {
  run({"stock", "s", "set", "5", "--per-buyer", "2"});
  EXPECT_EQ(
      run({"stock", "s", "reserve", "2", "--order", "a", "--buyer", "ann", "--for", "1h"}).out,
      "remaining 3  reserved 2  taken 0\n");
  EXPECT_EQ(run({"stock", "s", "take", "--order", "b", "--buyer", "ann"}).code, 1);
  EXPECT_EQ(run({"stock", "s", "commit", "--order", "a"}).code, 0);
  EXPECT_EQ(run({"stock", "s", "cancel", "--order", "x"}).code, 1);
  EXPECT_EQ(run({"stock", "s", "remove", "9"}).code, 1);
  const auto j = json_of({"stock", "s", "add", "4"});
  EXPECT_EQ(j.at("remaining"), 7);
  EXPECT_EQ(j.at("taken"), 2);
  EXPECT_EQ(run({"stock", "s", "erase"}).code, 0);
  EXPECT_EQ(run({"stock", "s"}).code, 1);
}

TEST_F(cells, stock_refuses_wrong_use) {
  EXPECT_EQ(run({"stock", "s", "set"}).code, 64);
  EXPECT_EQ(run({"stock", "s", "take"}).code, 64);
  EXPECT_EQ(run({"stock", "s", "reserve", "--order", "a"}).code, 64);
  EXPECT_EQ(run({"stock", "s", "steal"}).code, 64);
}

}  // namespace
}  // namespace afar::test
