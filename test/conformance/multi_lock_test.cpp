// Several locks as one. A multi_lock of one is also among the locks of locks_test.cpp.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/fair_mutex.hpp>
#include <afar/multi_lock.hpp>
#include <afar/mutex.hpp>
#include <afar/shared_mutex.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace afar::test {
namespace {

class multi_locks : public engine_test {
 protected:
  void SetUp() override { need<mutex>("mutex"); }
  std::string part(std::size_t i) const { return name + "/" + std::to_string(i); }
};

TEST_P(multi_locks, lock_all_parts) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  multi_lock both{a, b};
  both.lock();
  EXPECT_FALSE(mutex(two, part(0)).try_lock());
  EXPECT_FALSE(mutex(two, part(1)).try_lock());
  EXPECT_TRUE(both.valid());
  EXPECT_EQ(both.size(), 2U);
}

TEST_P(multi_locks, unlock_all_parts) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  multi_lock both{a, b};
  both.lock();
  std::error_code ec;
  both.unlock(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(mutex(two, part(0)).try_lock());
  EXPECT_TRUE(mutex(two, part(1)).try_lock());
}

TEST_P(multi_locks, hold_nothing_if_one_part_is_busy) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  mutex c{one, part(2)};
  mutex busy{two, part(1)};
  busy.lock();
  multi_lock all{a, b, c};
  EXPECT_FALSE(all.try_lock());
  EXPECT_TRUE(mutex(two, part(0)).try_lock_for(slowness * 2s));
  EXPECT_TRUE(mutex(two, part(2)).try_lock_for(slowness * 2s));
  EXPECT_FALSE(all.valid());
}

TEST_P(multi_locks, hold_nothing_when_the_time_is_over) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  mutex busy{two, part(1)};
  busy.lock();
  multi_lock both{a, b};
  EXPECT_GE(time_of([&] { EXPECT_FALSE(both.try_lock_for(30ms)); }), 30ms);
  EXPECT_TRUE(mutex(two, part(0)).try_lock_for(slowness * 2s));
}

TEST_P(multi_locks, have_one_time_for_all_parts) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  mutex c{one, part(2)};
  std::array<hold, 3> busy;
  for (std::size_t i = 0; i < busy.size(); ++i)
    busy[i] = mutex(two, part(i)).try_acquire_for(long_time);
  multi_lock all{a, b, c};
  const auto taken =
      quickest(140ms, [&] { return time_of([&] { EXPECT_FALSE(all.try_lock_for(40ms)); }); });
  EXPECT_LE(taken, 140ms);
}

TEST_P(multi_locks, wait_for_all_parts) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  hold first = mutex(two, part(0)).acquire();
  hold second = mutex(two, part(1)).acquire();
  multi_lock both{a, b};
  auto waiter = start([&] { return both.try_lock_for(long_time); });
  EXPECT_TRUE(has_waited(one));
  first.release();
  hold_still(10ms);
  second.release();
  EXPECT_TRUE(waiter.get());
}

TEST_P(multi_locks, have_a_token_for_every_part) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  multi_lock both{a, b};
  EXPECT_EQ(both.token(0), 0U);
  both.lock();
  const auto first = both.token(0);
  const auto second = both.token(1);
  EXPECT_NE(first, 0U);
  EXPECT_NE(second, 0U);
  both.unlock();
  both.lock();
  EXPECT_GT(both.token(0), first);
  EXPECT_GT(both.token(1), second);
}

TEST_P(multi_locks, lock_a_name_given_twice_once) {
  mutex a{one, part(0)};
  mutex same{one, part(0)};
  mutex b{one, part(1)};
  multi_lock all{a, same, b};
  EXPECT_EQ(all.size(), 2U);
  EXPECT_TRUE(all.try_lock());
}

TEST_P(multi_locks, span_clients_and_kinds) {
  need<fair_mutex>("fair_mutex");
  need<shared_mutex>("shared_mutex");
  if (IsSkipped()) return;
  mutex a{one, part(0)};
  fair_mutex b{two, part(1)};
  shared_mutex c{one, part(2)};
  multi_lock all{a, b, c};
  all.lock();
  EXPECT_FALSE(mutex(two, part(0)).try_lock());
  EXPECT_FALSE(fair_mutex(one, part(1)).try_lock());
  EXPECT_FALSE(shared_mutex(two, part(2)).try_lock_shared());
}

TEST_P(multi_locks, do_not_need_the_objects_they_were_made_from) {
  std::vector<std::unique_ptr<mutex>> parts;
  for (std::size_t i = 0; i < 2; ++i) parts.push_back(std::make_unique<mutex>(one, part(i)));
  multi_lock both{*parts[0], *parts[1]};
  parts.clear();
  both.lock();
  EXPECT_FALSE(mutex(two, part(1)).try_lock());
}

TEST_P(multi_locks, release_when_destroyed) {
  {
    mutex a{one, part(0)};
    mutex b{one, part(1)};
    multi_lock both{a, b};
    both.lock();
  }
  EXPECT_TRUE(mutex(two, part(0)).try_lock_for(long_time));
  EXPECT_TRUE(mutex(two, part(1)).try_lock_for(long_time));
}

TEST_P(multi_locks, give_up_by_a_stop_and_leave_nothing_behind) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  hold busy = mutex(two, part(1)).acquire();
  multi_lock both{a, b};
  std::stop_source stop;
  auto waiter = start([&] {
    std::error_code ec;
    both.lock(stop.get_token(), ec);
    return ec;
  });
  EXPECT_TRUE(has_waited(one));
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
  busy.release();
  for (std::size_t i : {0U, 1U})
    EXPECT_TRUE(eventually([&] { return mutex(two, part(i)).try_lock(); }, 2s));
}

TEST_P(multi_locks, report_an_unlock_with_nothing_locked) {
  mutex a{one, part(0)};
  multi_lock lock{a};
  std::error_code ec;
  lock.unlock(ec);
  EXPECT_EQ(ec, errc::not_owner);
}

TEST_P(multi_locks, tell_when_the_first_part_is_lost) {
  const client other = connect();
  mutex a{one, part(0)};
  mutex b{other, part(1)};
  multi_lock both{a, b};
  both.lock();
  client{other}.close();
  EXPECT_TRUE(eventually([&] { return both.lost().stop_requested(); }));
  EXPECT_FALSE(both.valid());
}

TEST_P(multi_locks, work_with_the_guards_of_std) {
  mutex a{one, part(0)};
  mutex b{one, part(1)};
  multi_lock both{a, b};
  {
    const std::scoped_lock guard{both};
    EXPECT_FALSE(mutex(two, part(0)).try_lock());
  }
  const std::unique_lock timed{both, slowness * 2s};
  EXPECT_TRUE(timed.owns_lock());
}

// A multi_lock over the chosen parts; the objects need not outlive it.
std::unique_ptr<multi_lock> lock_of(const client& c, const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<mutex>> parts;
  std::vector<std::reference_wrapper<detail::basic_mutex>> chosen;
  for (const auto& n : names) {
    parts.push_back(std::make_unique<mutex>(c, n));
    chosen.emplace_back(*parts.back());
  }
  return std::make_unique<multi_lock>(chosen);
}

TEST_P(multi_locks, do_not_deadlock_over_random_subsets) {
  constexpr std::size_t parts = 5;
  std::array<std::atomic<int>, parts> inside{};
  std::atomic<int> done{0};
  in_parallel(5, [&](int i) {
    std::mt19937 random{static_cast<unsigned>(i) + 1};
    for (int round = 0; round < 12; ++round) {
      std::vector<std::size_t> chosen;
      for (std::size_t p = 0; p < parts; ++p)
        if (random() % 2) chosen.push_back(p);
      if (chosen.empty()) chosen.push_back(0);
      std::shuffle(chosen.begin(), chosen.end(), random);
      std::vector<std::string> names;
      for (const auto p : chosen) names.push_back(part(p));
      auto lock = lock_of(i % 2 ? one : two, names);
      const std::lock_guard guard{*lock};
      for (const auto p : chosen) EXPECT_EQ(inside[p].fetch_add(1), 0);
      for (const auto p : chosen) inside[p].fetch_sub(1);
      ++done;
    }
  });
  EXPECT_EQ(done, 60);
}

AFAR_FOR_EVERY_ENGINE(multi_locks);

}  // namespace
}  // namespace afar::test
