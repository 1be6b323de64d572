// What every lock of afar does, whatever it is called.
#include "support/any_lock.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <atomic>

namespace afar::test {
namespace {

class locks : public any_lock_test {};
class locks_of_objects : public any_lock_test {
};  // not recursive_mutex, which belongs to the thread

bool try_once(any_lock& lock, nanoseconds d = 0ns) {
  const bool got = lock.try_lock_for(d);
  if (got) lock.unlock();
  return got;
}

TEST_P(locks, exclude_another_client_until_unlocked) {
  auto mine = lock_of(one);
  auto theirs = lock_of(two);
  mine->lock();
  EXPECT_FALSE(theirs->try_lock());
  std::error_code ec;
  mine->unlock(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(theirs->try_lock());
}

TEST_P(locks, exclude_another_thread_of_the_same_client) {
  auto mine = lock_of(one);
  mine->lock();
  EXPECT_FALSE(elsewhere([&] { return try_once(*lock_of(one)); }));
  std::error_code ec;
  mine->unlock(ec);
  EXPECT_TRUE(elsewhere([&] { return try_once(*lock_of(one)); }));
}

TEST_P(locks, exclude_another_thread_that_uses_the_same_object) {
  auto lock = lock_of(one);
  lock->lock();
  EXPECT_FALSE(elsewhere([&] { return try_once(*lock, 10ms); }));
  lock->unlock();
  EXPECT_TRUE(elsewhere([&] { return try_once(*lock, long_time); }));
}

TEST_P(locks, can_be_locked_again_after_unlock) {
  auto lock = lock_of(one);
  for (int round = 0; round < 20; ++round) {
    lock->lock();
    EXPECT_TRUE(lock->valid());
    lock->unlock();
  }
}

TEST_P(locks_of_objects, are_free_again_when_the_locked_object_is_destroyed) {
  {
    auto mine = lock_of(one);
    mine->lock();
  }
  EXPECT_TRUE(lock_of(two)->try_lock_for(long_time));
}

TEST_P(locks, of_different_names_are_independent) {
  auto mine = lock_of(one);
  auto other = make_lock(kind(), two, name + "/other");
  mine->lock();
  EXPECT_TRUE(other->try_lock());
}

TEST_P(locks, give_up_when_the_time_is_over) {
  auto mine = lock_of(one);
  auto theirs = lock_of(two);
  mine->lock();
  const auto taken = quickest(150ms, [&] {
    const auto t = time_of([&] { EXPECT_FALSE(theirs->try_lock_for(50ms)); });
    EXPECT_GE(t, 50ms);
    return t;
  });
  EXPECT_LE(taken, 150ms);
}

TEST_P(locks, give_up_in_time_behind_a_thread_of_the_same_client) {
  auto mine = lock_of(one);
  mine->lock();
  const auto taken = elsewhere([&] {
    auto ours = lock_of(one);
    return quickest(150ms, [&] {
      const auto t = time_of([&] { EXPECT_FALSE(ours->try_lock_for(50ms)); });
      EXPECT_GE(t, 50ms);
      return t;
    });
  });
  EXPECT_LE(taken, 150ms);
}

TEST_P(locks, take_what_is_free_without_using_the_time) {
  auto lock = lock_of(one);
  EXPECT_LT(time_of([&] { EXPECT_TRUE(lock->try_lock_for(slowness * 10s)); }), slowness * 5s);
}

TEST_P(locks, do_not_wait_for_no_or_negative_time) {
  auto mine = lock_of(one);
  auto theirs = lock_of(two);
  EXPECT_TRUE(mine->try_lock_for(0ms));
  EXPECT_FALSE(theirs->try_lock_for(0ms));
  EXPECT_FALSE(theirs->try_lock_for(-1h));
}

TEST_P(locks, wait_for_the_longest_time_there_is) {
  auto mine = lock_of(one);
  mine->lock();
  auto waiter = start([&] { return try_once(*lock_of(two), nanoseconds::max()); });
  EXPECT_TRUE(has_waited(two));
  mine->unlock();
  EXPECT_TRUE(waiter.get());
}

// From unlock() to the return of the waiter's lock().
nanoseconds hand_over(any_lock& from, any_lock& to, const client& waits) {
  using clock = std::chrono::steady_clock;
  from.lock();
  const auto before = waits.stats().waited;
  auto waiter = start([&] {
    to.lock();
    const auto got = clock::now();
    std::error_code ignored;
    to.unlock(ignored);
    return got;
  });
  EXPECT_TRUE(has_waited(waits, before + 1));
  const auto unlocked = clock::now();
  from.unlock();
  return waiter.get() - unlocked;
}

TEST_P(locks, wake_a_waiter_of_another_client_soon) {
  auto mine = lock_of(one);
  auto theirs = lock_of(two);
  EXPECT_LT(quickest(500ms, [&] { return hand_over(*mine, *theirs, two); }), 500ms);
}

TEST_P(locks, wake_a_waiter_of_the_same_client_soon) {
  auto mine = lock_of(one);
  auto ours = lock_of(one);
  EXPECT_LT(quickest(500ms, [&] { return hand_over(*mine, *ours, one); }), 500ms);
}

TEST_P(locks, wake_every_waiter_in_the_end) {
  auto mine = lock_of(one);
  mine->lock();
  std::atomic<int> served{0};
  auto crowd = start([&] {
    in_parallel(6, [&](int i) {
      if (try_once(*lock_of(i % 2 ? one : two), long_time)) ++served;
    });
  });
  EXPECT_TRUE(has_waited(one, 3) && has_waited(two, 1));
  mine->unlock();
  crowd.get();
  EXPECT_EQ(served, 6);
}

TEST_P(locks, leave_nothing_behind_when_a_wait_runs_out) {
  auto mine = lock_of(one);
  mine->lock();
  EXPECT_FALSE(lock_of(two)->try_lock_for(20ms));
  std::error_code ec;
  mine->unlock(ec);
  auto third = lock_of(connect());
  EXPECT_TRUE(eventually([&] { return third->try_lock(); }, 2s));
}

TEST_P(locks, leave_nothing_behind_when_a_try_is_refused) {
  auto mine = lock_of(one);
  mine->lock();
  EXPECT_FALSE(lock_of(two)->try_lock());
  std::error_code ec;
  mine->unlock(ec);
  EXPECT_TRUE(lock_of(connect())->try_lock());
}

TEST_P(locks, have_a_token_only_while_locked) {
  auto lock = lock_of(one);
  EXPECT_EQ(lock->token(), 0U);
  EXPECT_FALSE(lock->valid());
  lock->lock();
  EXPECT_NE(lock->token(), 0U);
  EXPECT_TRUE(lock->valid());
  lock->unlock();
  EXPECT_EQ(lock->token(), 0U);
  EXPECT_FALSE(lock->valid());
}

TEST_P(locks, outlive_the_client_object_they_were_made_from) {
  std::unique_ptr<any_lock> lock;
  {
    const client short_lived = connect();
    lock = lock_of(short_lived);
  }
  lock->lock();
  EXPECT_FALSE(lock_of(two)->try_lock());
}

AFAR_FOR_EVERY_ENGINE_AND(locks, every_lock);
AFAR_FOR_EVERY_ENGINE_AND(locks_of_objects, locks_but_recursive_mutex);

}  // namespace
}  // namespace afar::test
