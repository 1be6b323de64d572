// What closing a client does to its waits, its holds and later calls.
#include "support/any_lock.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

namespace afar::test {
namespace {

class closed_locks : public any_lock_test {};

TEST_P(closed_locks, end_their_waits) {
  auto mine = lock_of(one);
  mine->lock();
  auto waiter = start([&] { return thrown_by([&] { lock_of(two)->lock(); }); });
  EXPECT_TRUE(has_waited(two));
  two.close();
  EXPECT_EQ(waiter.get(), errc::closed);
}

TEST_P(closed_locks, end_waits_for_a_thread_of_the_same_client) {
  auto mine = lock_of(one);
  mine->lock();
  auto waiter = start([&] { return thrown_by([&] { lock_of(one)->lock(); }); });
  EXPECT_TRUE(has_waited(one));
  one.close();
  EXPECT_EQ(waiter.get(), errc::closed);
}

TEST_P(closed_locks, are_free_for_others) {
  auto mine = lock_of(one);
  mine->lock();
  one.close();
  EXPECT_FALSE(mine->valid());
  EXPECT_TRUE(lock_of(two)->try_lock_for(long_time));
}

TEST_P(closed_locks, leave_no_waiter_behind) {
  auto mine = lock_of(one);
  mine->lock();
  auto waiter = start([&] { return thrown_by([&] { lock_of(two)->lock(); }); });
  EXPECT_TRUE(has_waited(two));
  two.close();
  waiter.get();
  std::error_code ec;
  mine->unlock(ec);
  auto third = lock_of(connect());
  EXPECT_TRUE(eventually([&] { return third->try_lock(); }, 2s));
}

TEST_P(closed_locks, refuse_later_calls) {
  auto lock = lock_of(one);
  one.close();
  EXPECT_EQ(thrown_by([&] { lock->lock(); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { lock->try_lock(); }), errc::closed);
  EXPECT_EQ(thrown_by([&] { lock->try_lock_for(1ms); }), errc::closed);
}

TEST_P(closed_locks, can_be_unlocked_and_destroyed) {
  auto lock = lock_of(one);
  lock->lock();
  one.close();
  lock->unlock();
  lock.reset();
  one.close();
}

class closed_holds : public any_lock_test {};

TEST_P(closed_holds, are_lost_and_say_closed) {
  const hold mine = source_of(one)->acquire();
  const auto lost = mine.lost();
  one.close();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(mine.why(), loss_reason::closed);
  EXPECT_FALSE(mine.valid());
}

TEST_P(closed_holds, report_closed_to_the_error_code_twin) {
  auto source = source_of(one);
  one.close();
  std::error_code ec;
  EXPECT_FALSE(source->acquire({}, ec));
  EXPECT_EQ(ec, errc::closed);
}

AFAR_FOR_EVERY_ENGINE_AND(closed_locks, every_lock);
AFAR_FOR_EVERY_ENGINE_AND(closed_holds, locks_with_holds);

}  // namespace
}  // namespace afar::test
