// Leases: kept by renewal, ended by time, and nobody is disturbed by a late release.
#include "support/any_lock.hpp"
#include "support/errors.hpp"
#include "support/renewed_lease.hpp"
#include "support/threads.hpp"

#include <atomic>
#include <stop_token>

namespace afar::test {
namespace {

class leased_locks : public any_lock_test {};

TEST_P(leased_locks, stay_locked_beyond_the_lease_by_renewal) {
  const client c = connect({.lease = renewed_lease});
  auto lock = lock_of(c);
  lock->lock();
  const auto token = lock->token();
  auto theirs = lock_of(two);
  EXPECT_FALSE(theirs->try_lock_for(2 * renewed_lease));
  EXPECT_TRUE(lock->valid());
  EXPECT_EQ(lock->token(), token);
  EXPECT_GE(c.stats().renewed, 1U);
  EXPECT_EQ(c.stats().lost, 0U);
}

class leased_holds : public any_lock_test {
 protected:
  // A hold that nobody renews.
  hold brief(const client& c, milliseconds lease = 60ms) const {
    return source_of(c)->acquire({.lease = lease, .renew = renewal::off});
  }
};

TEST_P(leased_holds, end_by_themselves_without_renewal) {
  const auto before = boot_clock::now();
  const hold mine = brief(one);
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_FALSE(mine.valid());
  EXPECT_FALSE(mine);
  EXPECT_EQ(mine.why(), loss_reason::expired);
  EXPECT_GE(boot_clock::now() - before, 60ms - 3ms);  // the lease less its margin
}

TEST_P(leased_holds, are_counted_when_lost) {
  const hold mine = brief(one);
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return one.stats().lost == 1; }));
}

TEST_P(leased_holds, tell_why_before_they_say_that_they_are_lost) {
  const hold mine = brief(one);
  std::atomic<int> reason{-1};
  const std::stop_callback told{mine.lost(), [&] { reason = static_cast<int>(mine.why()); }};
  EXPECT_TRUE(eventually([&] { return reason >= 0; }));
  EXPECT_EQ(reason, static_cast<int>(loss_reason::expired));
}

TEST_P(leased_holds, are_lost_before_another_can_have_it) {
  const hold mine = brief(one);
  const auto end = mine.valid_until();
  const hold theirs = source_of(two)->try_acquire_for(long_time);
  const auto granted = boot_clock::now();
  EXPECT_FALSE(mine.valid());
  EXPECT_TRUE(theirs.valid());
  EXPECT_GE(granted, end);
  EXPECT_GT(theirs.token(), mine.token());
}

TEST_P(leased_holds, pass_to_a_thread_of_the_same_client_when_the_lease_ends) {
  const hold mine = brief(one);
  const hold ours = source_of(one)->try_acquire_for(long_time);
  EXPECT_FALSE(mine.valid());
  EXPECT_TRUE(ours.valid());
  EXPECT_GT(ours.token(), mine.token());
}

TEST_P(leased_holds, report_a_release_after_loss_and_do_not_disturb_the_next_holder) {
  hold mine = brief(one);
  const hold theirs = source_of(two)->try_acquire_for(long_time);
  ASSERT_TRUE(theirs);
  std::error_code ec;
  mine.release(ec);
  EXPECT_EQ(ec, errc::lost);
  EXPECT_TRUE(theirs.valid());
  EXPECT_FALSE(source_of(connect())->try_acquire());
}

TEST_P(leased_holds, throw_lost_from_a_release_after_loss) {
  hold mine = brief(one);
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  const auto failed = failure_of([&] { mine.release(); });
  EXPECT_EQ(failed.code, errc::lost);
  EXPECT_EQ(failed.resource, name);
}

TEST_P(leased_holds, do_not_disturb_the_next_holder_when_destroyed_after_loss) {
  hold mine = brief(one);
  const hold theirs = source_of(two)->try_acquire_for(long_time);
  ASSERT_TRUE(theirs);
  mine = hold{};
  hold_still(20ms);
  EXPECT_TRUE(theirs.valid());
  EXPECT_FALSE(source_of(connect())->try_acquire());
}

TEST_P(leased_holds, are_valid_no_longer_than_the_lease_from_the_request) {
  const auto before = boot_clock::now();
  const hold mine = brief(one, 10s);
  EXPECT_GT(mine.valid_until(), before);
  EXPECT_LE(mine.valid_until(), boot_clock::now() + 10s);
}

TEST_P(leased_holds, are_valid_for_longer_after_a_renewal) {
  const hold mine = source_of(one)->acquire({.lease = renewed_lease});
  const auto first = mine.valid_until();
  EXPECT_TRUE(eventually([&] { return mine.valid_until() > first; }));
  EXPECT_TRUE(mine.valid());
}

TEST_P(leased_holds, take_the_lease_of_the_client_by_default) {
  const client c = connect({.lease = 5s});
  const hold mine = source_of(c)->acquire();
  const auto left = mine.valid_until() - boot_clock::now();
  EXPECT_LE(left, 5s);
  EXPECT_GT(left, 1s);
}

TEST_P(leased_holds, refuse_a_lease_out_of_range) {
  auto source = source_of(one);
  for (const milliseconds lease : {-1ms, 0ms, 9ms, milliseconds{24h} + 1ms, milliseconds::max()}) {
    std::error_code ec;
    const hold none = source->acquire({.lease = lease}, ec);
    EXPECT_EQ(ec, errc::bad_argument) << lease.count();
    EXPECT_FALSE(none);
  }
  EXPECT_EQ(thrown_by([&] { source->acquire({.lease = 9ms}); }), errc::bad_argument);
}

TEST_P(leased_holds, accept_the_longest_lease) {
  EXPECT_TRUE(source_of(one)->acquire({.lease = 24h}).valid());
}

AFAR_FOR_EVERY_ENGINE_AND(leased_locks, every_lock);
AFAR_FOR_EVERY_ENGINE_AND(leased_holds, locks_with_holds);

}  // namespace
}  // namespace afar::test
