#include <afar/detail/deadline.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace afar::detail {
namespace {

using namespace std::chrono_literals;

TEST(deadline, lies_the_given_time_ahead) {
  const auto before = boot_clock::now();
  const auto d = deadline::after(5s);
  EXPECT_GE(d.at, before + 5s);
  EXPECT_LE(d.at, boot_clock::now() + 5s);
  EXPECT_TRUE(d.waits);
  EXPECT_FALSE(d.infinite());
}

TEST(deadline, of_nothing_or_less_does_not_wait) {
  EXPECT_FALSE(deadline::after(0s).waits);
  EXPECT_FALSE(deadline::after(-1ns).waits);
  EXPECT_FALSE(deadline::after(std::chrono::hours::min()).waits);
  EXPECT_FALSE(deadline::after(std::chrono::duration<double>{-1e300}).waits);
  EXPECT_FALSE(
      deadline::after(std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()})
          .waits);
}

TEST(deadline, saturates_instead_of_lying_in_the_past) {
  EXPECT_TRUE(deadline::after(std::chrono::hours::max()).infinite());
  EXPECT_TRUE(deadline::after(std::chrono::nanoseconds::max()).infinite());
  EXPECT_TRUE(deadline::after(std::chrono::milliseconds::max()).infinite());
  EXPECT_TRUE(deadline::after(std::chrono::years::max()).infinite());
  EXPECT_TRUE(deadline::after(std::chrono::duration<double>{1e300}).infinite());
  EXPECT_TRUE(
      deadline::after(std::chrono::duration<double>{std::numeric_limits<double>::infinity()})
          .infinite());
  EXPECT_TRUE(deadline::after(std::chrono::hours::max()).waits);
}

TEST(deadline, rounds_up_so_that_a_tiny_wait_is_still_one) {
  const auto d = deadline::after(std::chrono::duration<double, std::nano>{0.25});
  EXPECT_TRUE(d.waits);
}

TEST(deadline, forever_and_no_wait_are_what_they_say) {
  EXPECT_TRUE(deadline::forever().infinite());
  EXPECT_TRUE(deadline::forever().waits);
  EXPECT_FALSE(deadline::no_wait().waits);
}

// A calendar clock in the hands of the test.
struct stepped_clock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<stepped_clock>;
  static constexpr bool is_steady = false;
  static inline time_point current{1'000s};
  static time_point now() noexcept { return current; }
};

TEST(until, tries_again_when_its_clock_was_stepped_back_meanwhile) {
  stepped_clock::current = stepped_clock::time_point{1'000s};
  int attempts = 0;
  const bool got = until(stepped_clock::time_point{1'010s}, [&](deadline d) {
    EXPECT_TRUE(d.waits);
    ++attempts;
    stepped_clock::current = attempts == 1 ? stepped_clock::time_point{990s}     // stepped back
                                           : stepped_clock::time_point{1'010s};  // reached
    return false;
  });
  EXPECT_FALSE(got);
  EXPECT_EQ(attempts, 2);
}

TEST(until, stops_when_the_attempt_succeeds) {
  stepped_clock::current = stepped_clock::time_point{1'000s};
  int attempts = 0;
  EXPECT_TRUE(until(stepped_clock::time_point{2'000s}, [&](deadline) { return ++attempts == 1; }));
  EXPECT_EQ(attempts, 1);
}

TEST(until, tries_a_steady_clock_once) {
  int attempts = 0;
  EXPECT_FALSE(until(std::chrono::steady_clock::now() + 1h, [&](deadline d) {
    EXPECT_GT(d.at, boot_clock::now() + 59min);
    ++attempts;
    return false;
  }));
  EXPECT_EQ(attempts, 1);
}

TEST(until, does_not_wait_for_a_time_that_has_passed) {
  EXPECT_FALSE(until(boot_clock::now() - 1s, [](deadline d) {
    EXPECT_FALSE(d.waits);
    return false;
  }));
}

}  // namespace
}  // namespace afar::detail
