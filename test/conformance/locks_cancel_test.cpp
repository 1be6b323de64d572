// Giving up a wait by a stop token.
#include "support/any_lock.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <atomic>
#include <stop_token>

namespace afar::test {
namespace {

class cancelled_locks : public any_lock_test {
 protected:
  // Waits with `stop` for what `one` holds, as `c`.
  std::error_code wait_as(const client& c, std::stop_token stop) const {
    std::error_code ec;
    const hold none = source_of(c)->acquire({.stop = std::move(stop)}, ec);
    EXPECT_FALSE(none);
    return ec;
  }
};

TEST_P(cancelled_locks, end_at_once_if_the_stop_came_before) {
  const hold mine = source_of(one)->acquire();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(wait_as(two, stop.get_token()), errc::cancelled);
}

TEST_P(cancelled_locks, end_a_wait_for_another_client) {
  const hold mine = source_of(one)->acquire();
  std::stop_source stop;
  auto waiter = start([&] { return wait_as(two, stop.get_token()); });
  EXPECT_TRUE(has_waited(two));
  const auto taken = time_of([&] {
    stop.request_stop();
    EXPECT_EQ(waiter.get(), errc::cancelled);
  });
  EXPECT_LT(taken, slowness * 1s);
}

TEST_P(cancelled_locks, end_a_wait_for_a_thread_of_the_same_client) {
  const hold mine = source_of(one)->acquire();
  std::stop_source stop;
  auto waiter = start([&] { return wait_as(one, stop.get_token()); });
  EXPECT_TRUE(has_waited(one));
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
}

TEST_P(cancelled_locks, throw_when_no_error_code_is_given) {
  const hold mine = source_of(one)->acquire();
  std::stop_source stop;
  stop.request_stop();
  const auto failed = failure_of([&] { source_of(two)->acquire({.stop = stop.get_token()}); });
  EXPECT_EQ(failed.code, errc::cancelled);
  EXPECT_EQ(failed.resource, name);
}

TEST_P(cancelled_locks, are_counted) {
  const hold mine = source_of(one)->acquire();
  std::stop_source stop;
  auto waiter = start([&] { return wait_as(two, stop.get_token()); });
  EXPECT_TRUE(has_waited(two));
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
  EXPECT_EQ(two.stats().cancelled, 1U);
}

TEST_P(cancelled_locks, leave_nothing_behind) {
  hold mine = source_of(one)->acquire();
  std::stop_source stop;
  auto waiter = start([&] { return wait_as(two, stop.get_token()); });
  EXPECT_TRUE(has_waited(two));
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
  mine.release();
  auto third = source_of(connect());
  EXPECT_TRUE(eventually([&] { return third->try_acquire().valid(); }, 2s));
}

TEST_P(cancelled_locks, do_not_stop_those_that_wait_behind) {
  hold mine = source_of(one)->acquire();
  std::stop_source stop;
  auto first = start([&] { return wait_as(two, stop.get_token()); });
  EXPECT_TRUE(has_waited(two));
  const client three = connect();
  auto second = start([&] { return source_of(three)->try_acquire_for(long_time).valid(); });
  EXPECT_TRUE(has_waited(three));
  stop.request_stop();
  EXPECT_EQ(first.get(), errc::cancelled);
  mine.release();
  EXPECT_TRUE(second.get());
}

// Either granted or withdrawn, never both and never neither.
TEST_P(cancelled_locks, race_with_the_grant_without_leaving_anything_behind) {
  auto mine = source_of(one);
  auto theirs = source_of(two);
  for (int round = 0; round < 60; ++round) {
    hold busy = mine->acquire();
    std::stop_source stop;
    std::atomic<int> ready{0};
    const auto together = [&] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
    };
    auto waiter = start([&] {
      std::error_code ec;
      const hold got = theirs->acquire({.stop = stop.get_token()}, ec);
      EXPECT_TRUE(got ? !ec : ec == errc::cancelled) << ec.message();
    });
    auto stopper = start([&] {
      together();
      stop.request_stop();
    });
    together();
    busy.release();
    stopper.get();
    waiter.get();
    ASSERT_TRUE(mine->try_acquire_for(slowness * 4s)) << "round " << round;
  }
}

AFAR_FOR_EVERY_ENGINE_AND(cancelled_locks, locks_with_holds);

}  // namespace
}  // namespace afar::test
