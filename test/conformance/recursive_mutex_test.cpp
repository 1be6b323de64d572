#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/mutex.hpp>
#include <afar/recursive_mutex.hpp>

#include <atomic>
#include <mutex>

namespace afar::test {
namespace {

class recursive_mutexes : public engine_test {
 protected:
  void SetUp() override { need<recursive_mutex>("recursive_mutex"); }

  bool busy_for(const client& c) const {
    return elsewhere([&] {
      recursive_mutex theirs{c, name};
      const bool got = theirs.try_lock();
      if (got) theirs.unlock();
      return !got;
    });
  }
};

TEST_P(recursive_mutexes, count_their_depth) {
  recursive_mutex m{one, name};
  EXPECT_EQ(m.depth(), 0U);
  m.lock();
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.try_lock_for(1ms));
  EXPECT_EQ(m.depth(), 3U);
  m.unlock();
  EXPECT_EQ(m.depth(), 2U);
  m.unlock();
  m.unlock();
  EXPECT_EQ(m.depth(), 0U);
}

TEST_P(recursive_mutexes, have_one_token_at_all_depths) {
  recursive_mutex m{one, name};
  const std::lock_guard first{m};
  const auto token = m.token();
  const std::lock_guard second{m};
  const std::lock_guard third{m};
  EXPECT_NE(token, 0U);
  EXPECT_EQ(m.token(), token);
}

TEST_P(recursive_mutexes, have_a_larger_token_when_locked_anew) {
  recursive_mutex m{one, name};
  m.lock();
  const auto token = m.token();
  m.unlock();
  m.lock();
  EXPECT_GT(m.token(), token);
  m.unlock();
}

TEST_P(recursive_mutexes, are_reentered_through_another_object_of_the_name) {
  recursive_mutex first{one, name};
  recursive_mutex second{one, name};
  first.lock();
  EXPECT_TRUE(second.try_lock());
  EXPECT_EQ(first.depth(), 2U);
  EXPECT_EQ(second.token(), first.token());
  first.unlock();
  EXPECT_TRUE(busy_for(two));
  second.unlock();
  EXPECT_EQ(second.depth(), 0U);
}

TEST_P(recursive_mutexes, exclude_other_threads_and_clients_until_the_last_unlock) {
  recursive_mutex m{one, name};
  m.lock();
  m.lock();
  EXPECT_TRUE(busy_for(one));
  EXPECT_TRUE(busy_for(two));
  m.unlock();
  EXPECT_TRUE(busy_for(one));
  EXPECT_TRUE(busy_for(two));
  std::error_code ec;
  m.unlock(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_FALSE(busy_for(one));
  EXPECT_TRUE(eventually([&] { return !busy_for(two); }));
}

TEST_P(recursive_mutexes, exclude_another_client_in_the_same_thread) {
  recursive_mutex mine{one, name};
  recursive_mutex theirs{two, name};
  const std::lock_guard guard{mine};
  EXPECT_FALSE(theirs.try_lock());
}

TEST_P(recursive_mutexes, are_reentered_without_a_step_of_the_engine) {
  recursive_mutex m{one, name};
  m.lock();
  const auto before = one.stats();
  for (int i = 0; i < 10; ++i) m.lock();
  for (int i = 0; i < 10; ++i) m.unlock();
  const auto after = one.stats();
  EXPECT_EQ(after.steps, before.steps);
  EXPECT_EQ(after.reentered, before.reentered + 10);
  m.unlock();
}

TEST_P(recursive_mutexes, know_nothing_of_other_threads) {
  recursive_mutex m{one, name};
  m.lock();
  elsewhere([&] {
    EXPECT_EQ(m.depth(), 0U);
    EXPECT_EQ(m.token(), 0U);
    EXPECT_FALSE(m.valid());
  });
  EXPECT_EQ(m.depth(), 1U);
  EXPECT_TRUE(m.valid());
  m.unlock();
}

TEST_P(recursive_mutexes, are_not_unlocked_by_a_thread_that_holds_nothing) {
  recursive_mutex m{one, name};
  m.lock();
  elsewhere([&] {
    m.unlock();
    std::error_code ec;
    m.unlock(ec);
    EXPECT_EQ(ec, errc::not_owner);
  });
  EXPECT_EQ(m.depth(), 1U);
  EXPECT_TRUE(busy_for(two));
  EXPECT_EQ(one.stats().misused, 2U);
  m.unlock();
}

TEST_P(recursive_mutexes, exclude_a_mutex_of_the_same_name) {
  recursive_mutex mine{one, name};
  mutex theirs{two, name};
  const std::lock_guard guard{mine};
  EXPECT_FALSE(theirs.try_lock());
}

TEST_P(recursive_mutexes, exclude_a_mutex_of_the_same_name_and_client) {
  recursive_mutex first{one, name};
  const std::lock_guard guard{first};
  EXPECT_FALSE(elsewhere([&] { return mutex{one, name}.try_lock(); }));
}

TEST_P(recursive_mutexes, count_exactly_with_nested_locks) {
  std::atomic<int> total{0};
  in_parallel(4, [&](int i) {
    recursive_mutex m{i % 2 ? one : two, name};
    for (int round = 0; round < 30; ++round) {
      const std::lock_guard outer{m};
      const std::lock_guard inner{m};
      total.store(total.load() + 1);
    }
  });
  EXPECT_EQ(total, 120);
}

TEST_P(recursive_mutexes, are_lost_at_all_depths_when_the_client_closes) {
  recursive_mutex m{one, name};
  m.lock();
  m.lock();
  const auto lost = m.lost();
  one.close();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_FALSE(m.valid());
  m.unlock();
  m.unlock();
  EXPECT_EQ(m.depth(), 0U);
}

AFAR_FOR_EVERY_ENGINE(recursive_mutexes);

}  // namespace
}  // namespace afar::test
