// What mutex, fair_mutex and shared_mutex share: the lock belongs to the object.
#include "support/any_lock.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <memory>
#include <mutex>
#include <variant>

namespace afar::test {
namespace {

// One of the three, as what they have in common.
class some_mutex {
 public:
  some_mutex(lock_kind kind, const client& c, const std::string& name) {
    switch (kind) {
      case lock_kind::fair_mutex:
        mutex_ = std::make_unique<fair_mutex>(c, name);
        return;
      case lock_kind::shared_mutex:
        mutex_ = std::make_unique<shared_mutex>(c, name);
        return;
      case lock_kind::mutex:
      case lock_kind::recursive_mutex:
      case lock_kind::leased_semaphore:
      case lock_kind::multi_lock:
      case lock_kind::election:
        mutex_ = std::make_unique<mutex>(c, name);
        return;
    }
  }
  detail::basic_mutex& operator*() {
    return std::visit([](auto& m) -> detail::basic_mutex& { return *m; }, mutex_);
  }
  detail::basic_mutex* operator->() { return &**this; }

 private:
  std::variant<std::unique_ptr<mutex>, std::unique_ptr<fair_mutex>, std::unique_ptr<shared_mutex>>
      mutex_;
};

class mutexes : public any_lock_test {
 protected:
  some_mutex mutex_of(const client& c) const { return {kind(), c, name}; }
};

TEST_P(mutexes, count_an_unlock_with_nothing_locked_as_misuse) {
  auto m = mutex_of(one);
  m->unlock();
  EXPECT_EQ(one.stats().misused, 1U);
}

TEST_P(mutexes, report_an_unlock_with_nothing_locked) {
  auto m = mutex_of(one);
  std::error_code ec;
  m->unlock(ec);
  EXPECT_EQ(ec, errc::not_owner);
  EXPECT_EQ(one.stats().misused, 1U);
}

TEST_P(mutexes, do_not_disturb_a_holder_by_an_unlock_with_nothing_locked) {
  auto mine = mutex_of(one);
  mine->lock();
  mutex_of(one)->unlock();
  mutex_of(two)->unlock();
  EXPECT_TRUE(mine->valid());
  EXPECT_FALSE(mutex_of(two)->try_lock());
}

TEST_P(mutexes, can_be_unlocked_by_another_thread) {
  auto m = mutex_of(one);
  std::unique_lock guard{*m};
  elsewhere([moved = std::move(guard)]() mutable { moved.unlock(); });
  EXPECT_TRUE(mutex_of(two)->try_lock_for(long_time));
}

TEST_P(mutexes, can_be_locked_again_by_the_thread_whose_lock_another_thread_ended) {
  auto m = mutex_of(one);
  m->lock();
  elsewhere([&] { m->unlock(); });
  EXPECT_NO_THROW(m->lock());
  m->unlock();
}

TEST_P(mutexes, find_a_deadlock_when_a_thread_locks_twice) {
  auto m = mutex_of(one);
  m->lock();
  const auto failed = failure_of([&] { m->lock(); });
  EXPECT_EQ(failed.code, errc::deadlock);
  EXPECT_EQ(failed.resource, name);
  EXPECT_TRUE(m->valid());
}

TEST_P(mutexes, report_a_deadlock_to_the_error_code_twin) {
  auto m = mutex_of(one);
  m->lock();
  std::error_code ec;
  m->lock(ec);
  EXPECT_EQ(ec, errc::deadlock);
  EXPECT_EQ(ec, std::errc::resource_deadlock_would_occur);
}

TEST_P(mutexes, find_a_deadlock_through_two_objects_of_one_name) {
  auto first = mutex_of(one);
  auto second = mutex_of(one);
  first->lock();
  EXPECT_EQ(thrown_by([&] { second->lock(); }), errc::deadlock);
}

TEST_P(mutexes, find_a_deadlock_of_two_objects_of_one_name_in_one_scoped_lock) {
  auto first = mutex_of(one);
  auto second = mutex_of(one);
  EXPECT_EQ(thrown_by([&] { const std::scoped_lock both{*first, *second}; }), errc::deadlock);
  EXPECT_TRUE(mutex_of(two)->try_lock_for(long_time));
}

TEST_P(mutexes, see_no_deadlock_in_another_thread) {
  auto m = mutex_of(one);
  m->lock();
  EXPECT_FALSE(elsewhere([&] { return m->try_lock_for(10ms); }));
}

TEST_P(mutexes, wait_for_the_threads_own_lock_when_asked_for_a_hold) {
  auto m = mutex_of(one);
  m->lock();
  EXPECT_FALSE(m->try_acquire());
  const auto taken = time_of([&] { EXPECT_FALSE(m->try_acquire_for(20ms)); });
  EXPECT_GE(taken, 20ms);
}

TEST_P(mutexes, report_a_timeout_to_the_error_code_twins) {
  auto mine = mutex_of(one);
  auto theirs = mutex_of(two);
  mine->lock();
  std::error_code ec;
  EXPECT_FALSE(theirs->try_lock_for(5ms, ec));
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_EQ(ec, std::errc::timed_out);
  EXPECT_FALSE(theirs->try_acquire_for(5ms, {}, ec));
  EXPECT_EQ(ec, errc::timed_out);
  EXPECT_FALSE(theirs->try_lock_until(std::chrono::system_clock::now() + 5ms, ec));
  EXPECT_EQ(ec, errc::timed_out);
}

TEST_P(mutexes, see_busy_as_an_outcome_and_not_as_an_error) {
  auto mine = mutex_of(one);
  auto theirs = mutex_of(two);
  mine->lock();
  std::error_code ec = errc::damaged;
  EXPECT_FALSE(theirs->try_lock(ec));
  EXPECT_FALSE(ec) << ec.message();
  ec = errc::damaged;
  EXPECT_FALSE(theirs->try_acquire({}, ec));
  EXPECT_FALSE(ec) << ec.message();
}

TEST_P(mutexes, clear_the_error_code_on_success) {
  auto m = mutex_of(one);
  std::error_code ec = errc::damaged;
  m->lock(ec);
  EXPECT_FALSE(ec);
  ec = errc::damaged;
  m->unlock(ec);
  EXPECT_FALSE(ec);
}

TEST_P(mutexes, tell_the_loss_of_what_they_keep) {
  auto m = mutex_of(one);
  EXPECT_FALSE(m->lost().stop_possible());
  m->lock();
  const auto lost = m->lost();
  EXPECT_TRUE(lost.stop_possible());
  EXPECT_FALSE(lost.stop_requested());
  one.close();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
}

TEST_P(mutexes, count_what_they_did) {
  auto m = mutex_of(one);
  std::error_code ec;
  m->lock();
  m->unlock(ec);
  const auto seen = one.stats();
  EXPECT_GE(seen.acquired, 1U);
  EXPECT_GE(seen.released, 1U);
  EXPECT_GE(seen.steps, 2U);
}

AFAR_FOR_EVERY_ENGINE_AND(mutexes, mutex_kinds);

}  // namespace
}  // namespace afar::test
