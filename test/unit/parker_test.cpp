#include "core/parker.hpp"

#include "support/patience.hpp"
#include "support/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace afar::detail {
namespace {

using namespace test;

TEST(parker, sleeps_until_its_time_and_not_less) {
  parker p;
  const auto until = boot_clock::now() + 30ms;
  p.park_until(until);
  EXPECT_GE(boot_clock::now(), until);
}

TEST(parker, returns_at_once_when_the_time_has_passed) {
  parker p;
  p.park_until(boot_clock::time_point{});
  p.park_until(boot_clock::time_point::min());
}

TEST(parker, remembers_a_notification) {
  parker p;
  p.notify();
  p.park_until(boot_clock::time_point::max());  // hangs if it forgot
}

TEST(parker, uses_a_notification_once) {
  parker p;
  p.notify();
  p.notify();
  p.park_until(boot_clock::time_point::max());
  const auto until = boot_clock::now() + 20ms;
  p.park_until(until);
  EXPECT_GE(boot_clock::now(), until);
}

TEST(parker, is_woken_while_it_sleeps) {
  parker p;
  std::atomic<bool> ready{false};
  auto sleeper = start([&] {
    while (!ready) p.park_until(boot_clock::time_point::max());
  });
  hold_still(10ms);  // most likely it sleeps by now; it must not matter
  ready = true;
  p.notify();
  sleeper.get();
}

TEST(parker, sleeps_for_longer_than_one_slice) {
  parker p;
  const auto until = boot_clock::now() + 1'100ms;
  p.park_until(until);
  EXPECT_GE(boot_clock::now(), until);
}

TEST(parker, shows_the_sleeper_what_was_written_before_the_notification) {
  parker there;
  parker back;
  int value = 0;  // not atomic: the parker itself must order the accesses
  constexpr int rounds = 20'000;
  auto other = start([&] {
    for (int i = 0; i < rounds; ++i) {
      there.park_until(boot_clock::time_point::max());
      ++value;
      back.notify();
    }
  });
  for (int i = 0; i < rounds; ++i) {
    ++value;
    there.notify();
    back.park_until(boot_clock::time_point::max());
    ASSERT_EQ(value, 2 * (i + 1));
  }
  other.get();
}

TEST(parker, loses_no_notification_that_meets_the_end_of_the_time) {
  parker there;
  parker back;
  std::atomic<int> sent{0};
  constexpr int rounds = 5'000;
  auto sleeper = start([&] {
    for (int i = 1; i <= rounds; ++i) {
      there.park_until(boot_clock::now() + std::chrono::microseconds{i % 20});
      // Hangs if the park above swallowed the notification without showing what came before it.
      while (sent.load(std::memory_order_relaxed) < i) {
        there.park_until(boot_clock::time_point::max());
      }
      back.notify();
    }
  });
  for (int i = 1; i <= rounds; ++i) {
    sent.store(i, std::memory_order_relaxed);
    there.notify();
    back.park_until(boot_clock::time_point::max());
  }
  sleeper.get();
}

}  // namespace
}  // namespace afar::detail
