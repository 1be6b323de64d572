// When a mutex is worth keeping after unlock(), with a clock of the test's own.
#include "core/stickiness.hpp"

#include <gtest/gtest.h>

using namespace std::chrono_literals;
using afar::detail::stickiness;

namespace {

constexpr auto linger = 5ms;
constexpr std::uint32_t most = 1'000;
const auto noon = afar::boot_clock::time_point{} + 1h;

TEST(stickiness, keeps_nothing_that_was_not_locked_before) {
  EXPECT_EQ(stickiness{}.worth(noon, linger, most), 0U);
}

TEST(stickiness, keeps_what_is_locked_again_soon) {
  stickiness s;
  s.let_go(noon);
  EXPECT_EQ(s.worth(noon + 5ms, linger, most), stickiness::fewest_tokens);
  EXPECT_EQ(s.worth(noon + 6ms, linger, most), 0U);
}

TEST(stickiness, reserves_twice_as_many_tokens_as_were_used_and_not_more_than_there_are) {
  stickiness s;
  s.let_go(noon);
  s.given_back(100, false, noon);
  EXPECT_EQ(s.worth(noon, linger, most), 200U);
  s.given_back(600, false, noon);
  EXPECT_EQ(s.worth(noon, linger, most), most);
  s.given_back(0, false, noon);
  EXPECT_EQ(s.worth(noon, linger, most), stickiness::fewest_tokens);
}

TEST(stickiness, pauses_after_it_was_in_vain_and_longer_each_time) {
  stickiness s;
  auto now = noon;
  auto pause = stickiness::first_pause;
  for (int i = 0; i < 20; ++i) {
    s.given_back(stickiness::worth_it - 1, true, now);
    s.let_go(now + pause - 1ms);
    EXPECT_EQ(s.worth(now + pause - 1ms, linger, most), 0U) << i;
    now += pause;
    s.let_go(now);
    EXPECT_GT(s.worth(now, linger, most), 0U) << i;
    if (i < stickiness::most_doublings) pause *= 2;
  }
}

TEST(stickiness, goes_on_if_it_was_worth_it_although_somebody_asked) {
  stickiness s;
  s.given_back(0, true, noon);
  s.given_back(stickiness::worth_it, true, noon + 1s);
  s.let_go(noon + 1s);
  EXPECT_GT(s.worth(noon + 1s, linger, most), 0U);
  s.given_back(0, true, noon + 1s);  // the first one in a row again
  s.let_go(noon + 1s + stickiness::first_pause);
  EXPECT_GT(s.worth(noon + 1s + stickiness::first_pause, linger, most), 0U);
}

}  // namespace
