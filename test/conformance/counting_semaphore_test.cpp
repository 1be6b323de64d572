#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/counting_semaphore.hpp>

#include <atomic>

namespace afar::test {
namespace {

class counting_semaphores : public engine_test {
 protected:
  void SetUp() override { need<counting_semaphore<>>("counting_semaphore", 1); }
};

TEST_P(counting_semaphores, count_down_from_the_initial_value) {
  counting_semaphore<> mine{one, name, 2};
  counting_semaphore<> theirs{two, name, 2};
  EXPECT_TRUE(mine.try_acquire());
  EXPECT_TRUE(theirs.try_acquire());
  EXPECT_FALSE(mine.try_acquire());
  EXPECT_FALSE(theirs.try_acquire());
}

TEST_P(counting_semaphores, start_at_the_value_of_the_first_user) {
  counting_semaphore<> mine{one, name, 1};
  EXPECT_TRUE(mine.try_acquire());
  counting_semaphore<> theirs{two, name, 5};
  EXPECT_FALSE(theirs.try_acquire());
}

TEST_P(counting_semaphores, may_be_released_by_anybody) {
  counting_semaphore<> mine{one, name, 0};
  counting_semaphore<> theirs{two, name, 0};
  EXPECT_FALSE(mine.try_acquire());
  theirs.release(2);
  EXPECT_TRUE(mine.try_acquire());
  EXPECT_TRUE(theirs.try_acquire());
  EXPECT_FALSE(theirs.try_acquire());
}

TEST_P(counting_semaphores, know_how_many_are_available) {
  counting_semaphore<> s{one, name, 3};
  EXPECT_EQ(s.available(), 3);
  s.acquire();
  EXPECT_EQ(s.available(), 2);
}

TEST_P(counting_semaphores, wake_a_waiter) {
  counting_semaphore<> mine{one, name, 0};
  auto waiter = start([&] {
    counting_semaphore<> theirs{two, name, 0};
    return theirs.try_acquire_for(long_time);
  });
  hold_still(10ms);
  mine.release();
  EXPECT_TRUE(waiter.get());
  EXPECT_EQ(mine.available(), 0);
}

TEST_P(counting_semaphores, wake_as_many_as_were_released) {
  counting_semaphore<> mine{one, name, 0};
  std::atomic<int> through{0};
  auto crowd = start([&] {
    in_parallel(4, [&](int i) {
      counting_semaphore<> s{i % 2 ? one : two, name, 0};
      if (s.try_acquire_for(long_time)) ++through;
    });
  });
  hold_still(10ms);
  mine.release(3);
  EXPECT_TRUE(eventually([&] { return through == 3; }));
  hold_still(20ms);
  EXPECT_EQ(through, 3);
  mine.release();
  crowd.get();
  EXPECT_EQ(through, 4);
}

TEST_P(counting_semaphores, give_up_when_the_time_is_over) {
  counting_semaphore<> s{one, name, 0};
  EXPECT_GE(time_of([&] { EXPECT_FALSE(s.try_acquire_for(30ms)); }), 30ms);
  EXPECT_FALSE(s.try_acquire_until(std::chrono::system_clock::now() + 5ms));
  std::error_code ec;
  EXPECT_FALSE(s.try_acquire_for(5ms, ec));
  EXPECT_EQ(ec, errc::timed_out);
}

TEST_P(counting_semaphores, take_nothing_when_the_time_is_over) {
  counting_semaphore<> s{one, name, 0};
  EXPECT_FALSE(s.try_acquire_for(5ms));
  s.release();
  EXPECT_TRUE(eventually([&] { return s.available() == 1; }));
}

TEST_P(counting_semaphores, give_up_by_a_stop) {
  counting_semaphore<> s{one, name, 0};
  std::stop_source stop;
  auto waiter = start([&] {
    std::error_code ec;
    s.acquire(stop.get_token(), ec);
    return ec;
  });
  hold_still(10ms);
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
  s.release();
  // An attempt whose answer was lost is repeated, and reversed, behind the caller's back.
  EXPECT_TRUE(eventually([&] { return s.available() == 1; }));
}

// Either it has one or it has none, also if the stop comes while the engine is asked.
TEST_P(counting_semaphores, lose_nothing_when_a_stop_races_with_a_release) {
  counting_semaphore<> mine{one, name, 0};
  counting_semaphore<> theirs{two, name, 0};
  for (int round = 0; round < 60; ++round) {
    std::stop_source stop;
    auto waiter = start([&] {
      std::error_code ec;
      theirs.acquire(stop.get_token(), ec);
      return !ec;
    });
    auto stopper = start([&] { stop.request_stop(); });
    mine.release();
    stopper.get();
    if (waiter.get()) mine.release();
    ASSERT_TRUE(eventually([&] { return mine.available() == 1; }, 1s)) << "round " << round;
    mine.acquire();
  }
}

TEST_P(counting_semaphores, lose_nothing_when_the_time_ends_as_one_is_released) {
  counting_semaphore<> mine{one, name, 0};
  counting_semaphore<> theirs{two, name, 0};
  for (int round = 0; round < 40; ++round) {
    auto waiter = start([&] { return theirs.try_acquire_for(round % 4 * 500us); });
    mine.release();
    if (waiter.get()) mine.release();
    ASSERT_TRUE(eventually([&] { return mine.available() == 1; }, 1s)) << "round " << round;
    mine.acquire();
  }
}

TEST_P(counting_semaphores, end_their_waits_when_the_client_closes) {
  auto waiter = start([&] {
    counting_semaphore<> s{two, name, 0};
    return thrown_by([&] { s.acquire(); });
  });
  hold_still(10ms);
  two.close();
  EXPECT_EQ(waiter.get(), errc::closed);
}

TEST_P(counting_semaphores, refuse_to_release_a_negative_number) {
  counting_semaphore<> s{one, name, 1};
  EXPECT_EQ(thrown_by([&] { s.release(-1); }), errc::bad_argument);
  EXPECT_EQ(s.available(), 1);
}

TEST_P(counting_semaphores, do_not_count_beyond_their_maximum) {
  binary_semaphore s{one, name, 1};
  EXPECT_EQ(thrown_by([&] { s.release(); }), errc::overflow);
  EXPECT_EQ(s.available(), 1);
}

TEST_P(counting_semaphores, refuse_an_initial_value_out_of_range) {
  EXPECT_EQ(thrown_by([&] { counting_semaphore<>(one, name, -1); }), errc::bad_argument);
  EXPECT_EQ(thrown_by([&] { binary_semaphore(one, name, 2); }), errc::bad_argument);
}

TEST_P(counting_semaphores, exclude_as_a_binary_semaphore_under_contention) {
  std::atomic<int> inside{0};
  std::atomic<int> total{0};
  in_parallel(4, [&](int i) {
    binary_semaphore s{i % 2 ? one : two, name, 1};
    for (int round = 0; round < 25; ++round) {
      s.acquire();
      EXPECT_EQ(inside.fetch_add(1), 0);
      ++total;
      inside.fetch_sub(1);
      s.release();
    }
  });
  EXPECT_EQ(total, 100);
  EXPECT_EQ(binary_semaphore(one, name, 1).available(), 1);
}

AFAR_FOR_EVERY_ENGINE(counting_semaphores);

}  // namespace
}  // namespace afar::test
