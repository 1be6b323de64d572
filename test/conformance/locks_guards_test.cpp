// The guards of the standard library over every lock.
#include "support/any_lock.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>

namespace afar::test {
namespace {

class guarded_locks : public any_lock_test {
 protected:
  bool free_for_another() {
    auto theirs = lock_of(two);
    return std::unique_lock{*theirs, long_time}.owns_lock();
  }
};

TEST_P(guarded_locks, are_unlocked_at_the_end_of_a_scoped_lock) {
  auto lock = lock_of(one);
  {
    const std::scoped_lock guard{*lock};
    EXPECT_FALSE(lock_of(two)->try_lock());
  }
  EXPECT_TRUE(free_for_another());
}

TEST_P(guarded_locks, are_unlocked_once_when_an_exception_leaves_the_scope) {
  auto lock = lock_of(one);
  EXPECT_THROW(
      {
        const std::scoped_lock guard{*lock};
        throw std::runtime_error{"thrown while locked"};
      },
      std::runtime_error);
  EXPECT_TRUE(free_for_another());
  EXPECT_EQ(one.stats().misused, 0U);
}

TEST_P(guarded_locks, can_be_deferred_and_tried_by_unique_lock) {
  auto lock = lock_of(one);
  std::unique_lock guard{*lock, std::defer_lock};
  EXPECT_FALSE(guard.owns_lock());
  EXPECT_TRUE(guard.try_lock());
  guard.unlock();
  EXPECT_TRUE(free_for_another());
}

TEST_P(guarded_locks, can_be_timed_by_unique_lock) {
  auto mine = lock_of(one);
  auto theirs = lock_of(two);
  const std::unique_lock got{*mine, slowness * 1s};
  EXPECT_TRUE(got.owns_lock());
  const std::unique_lock refused{*theirs, 10ms};
  EXPECT_FALSE(refused.owns_lock());
}

TEST_P(guarded_locks, can_be_timed_by_unique_lock_until_a_time_of_any_clock) {
  auto mine = lock_of(one);
  auto theirs = lock_of(two);
  const std::unique_lock got{*mine, std::chrono::system_clock::now() + slowness * 1s};
  EXPECT_TRUE(got.owns_lock());
  const std::unique_lock refused{*theirs, std::chrono::steady_clock::now() + 10ms};
  EXPECT_FALSE(refused.owns_lock());
}

TEST_P(guarded_locks, do_not_deadlock_when_std_lock_takes_two_in_opposite_order) {
  std::atomic<int> done{0};
  in_parallel(4, [&](int i) {
    const client& c = i < 2 ? one : two;
    auto left = make_lock(kind(), c, name + "/left");
    auto right = make_lock(kind(), c, name + "/right");
    for (int round = 0; round < 15; ++round) {
      if (i % 2) {
        const std::scoped_lock guard{*left, *right};
        ++done;
      } else {
        const std::scoped_lock guard{*right, *left};
        ++done;
      }
    }
  });
  EXPECT_EQ(done, 60);
}

TEST_P(guarded_locks, are_all_or_none_for_std_try_lock) {
  auto busy = make_lock(kind(), two, name + "/busy");
  busy->lock();
  auto first = lock_of(one);
  auto second = make_lock(kind(), one, name + "/busy");
  EXPECT_EQ(std::try_lock(*first, *second), 1);
  EXPECT_TRUE(free_for_another());
}

AFAR_FOR_EVERY_ENGINE_AND(guarded_locks, every_lock);

}  // namespace
}  // namespace afar::test
