#include "cli/duration.hpp"

#include <gtest/gtest.h>

namespace afar::cli {
namespace {

using namespace std::chrono_literals;

TEST(durations, are_read_as_people_write_them) {
  EXPECT_EQ(parse_duration("30s"), 30s);
  EXPECT_EQ(parse_duration("10m"), 10min);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("2d"), 48h);
  EXPECT_EQ(parse_duration("1m0.5s"), 60500ms);
  EXPECT_EQ(parse_duration("0"), 0ms);
  EXPECT_EQ(parse_duration("15"), 15s);
  EXPECT_EQ(parse_duration("0.2ms"), 1ms) << "something is never nothing";
}

TEST(durations, are_refused_if_they_are_none) {
  for (const char* text : {"", "s", "-1s", "1x", "1s2m", "1m1m", "1h30", "s1", "1 s", "nan", "inf",
                           "1e3s", "99999999999999999d", "0x1s"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(durations, are_shown_in_two_units_at_most) {
  EXPECT_EQ(show(0ms), "0.0s");
  EXPECT_EQ(show(-5s), "0.0s");
  EXPECT_EQ(show(440ms), "0.4s");
  EXPECT_EQ(show(27s), "27s");
  EXPECT_EQ(show(3min + 12s), "3m12s");
  EXPECT_EQ(show(5h + 4min + 3s), "5h04m");
  EXPECT_EQ(show(6 * 24h + 2h), "6d02h");
}

}  // namespace
}  // namespace afar::cli
