#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/counter.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

namespace afar::test {
namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

class counters : public engine_test {
 protected:
  void SetUp() override { need<counter>("counter"); }
};

TEST_P(counters, read_as_their_initial_value_until_changed) {
  EXPECT_EQ(counter(one, name).load(), 0);
  EXPECT_EQ(counter(one, name, 7).load(), 7);
  EXPECT_EQ(counter(two, name, 9).load(), 9);
}

TEST_P(counters, start_at_the_initial_value_of_the_first_change) {
  EXPECT_EQ(counter(one, name, 7).fetch_add(1), 7);
  EXPECT_EQ(counter(two, name, 100).load(), 8);
}

TEST_P(counters, return_the_value_before) {
  counter c{one, name};
  EXPECT_EQ(c.fetch_add(5), 0);
  EXPECT_EQ(c.fetch_add(-2), 5);
  EXPECT_EQ(c.fetch_sub(10), 3);
  EXPECT_EQ(c.exchange(42), -7);
  EXPECT_EQ(c.load(), 42);
}

TEST_P(counters, are_shared_by_clients) {
  counter mine{one, name};
  counter theirs{two, name};
  mine.store(3);
  EXPECT_EQ(theirs.fetch_add(1), 3);
  EXPECT_EQ(mine.load(), 4);
}

TEST_P(counters, exchange_only_what_is_expected) {
  counter c{one, name, 5};
  std::int64_t expected = 4;
  EXPECT_FALSE(c.compare_exchange_strong(expected, 9));
  EXPECT_EQ(expected, 5);
  EXPECT_TRUE(c.compare_exchange_strong(expected, 9));
  EXPECT_EQ(c.load(), 9);
}

TEST_P(counters, stay_within_bounds) {
  counter c{one, name, 8};
  EXPECT_EQ(c.fetch_add_within(2, 0, 10), 8);
  EXPECT_EQ(c.fetch_add_within(1, 0, 10), std::nullopt);
  EXPECT_EQ(c.load(), 10);
  EXPECT_EQ(c.fetch_add_within(-11, 0, 10), std::nullopt);
  EXPECT_EQ(c.fetch_add_within(-10, 0, 10), 10);
}

TEST_P(counters, hold_every_64_bit_value) {
  counter c{one, name};
  for (const std::int64_t v : {least, least + 1, std::int64_t{-1}, std::int64_t{0}, most}) {
    c.store(v);
    EXPECT_EQ(counter(two, name).load(), v);
  }
}

TEST_P(counters, do_not_overflow) {
  counter c{one, name};
  c.store(most);
  EXPECT_EQ(thrown_by([&] { c.fetch_add(1); }), errc::overflow);
  EXPECT_EQ(thrown_by([&] { c.fetch_sub(least); }), errc::overflow);
  EXPECT_EQ(c.load(), most);
  c.store(least);
  std::error_code ec;
  c.fetch_sub(1, ec);
  EXPECT_EQ(ec, errc::overflow);
  EXPECT_EQ(c.load(), least);
}

TEST_P(counters, subtract_the_least_value_where_the_result_fits) {
  counter c{one, name, -1};
  EXPECT_EQ(c.fetch_sub(least), -1);
  EXPECT_EQ(c.load(), most);
}

TEST_P(counters, are_forgotten_when_erased) {
  counter c{one, name, 7};
  c.fetch_add(1);
  c.erase();
  EXPECT_EQ(c.load(), 7);
  EXPECT_EQ(counter(two, name, 20).fetch_add(1), 20);
}

TEST_P(counters, are_linearizable_under_contention) {
  constexpr int threads = 6;
  constexpr int rounds = 40;
  std::mutex guard;
  std::vector<std::int64_t> seen;
  in_parallel(threads, [&](int i) {
    counter c{i % 2 ? one : two, name};
    std::int64_t last = -1;
    for (int round = 0; round < rounds; ++round) {
      const auto before = c.fetch_add(1);
      EXPECT_GT(before, last);
      last = before;
      const std::lock_guard memory{guard};
      seen.push_back(before);
    }
  });
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(threads * rounds));
  for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], static_cast<std::int64_t>(i));
  EXPECT_EQ(counter(one, name).load(), threads * rounds);
}

TEST_P(counters, lose_no_compare_exchange_under_contention) {
  in_parallel(4, [&](int i) {
    counter c{i % 2 ? one : two, name};
    for (int round = 0; round < 15; ++round) {
      std::int64_t v = c.load();
      while (!c.compare_exchange_strong(v, v + 1)) {
      }
    }
  });
  EXPECT_EQ(counter(one, name).load(), 60);
}

TEST_P(counters, do_not_leave_their_bounds_under_contention) {
  std::atomic<int> applied{0};
  in_parallel(4, [&](int i) {
    counter c{i % 2 ? one : two, name};
    for (int round = 0; round < 20; ++round)
      if (c.fetch_add_within(1, 0, 50)) ++applied;
  });
  EXPECT_EQ(applied, 50);
  EXPECT_EQ(counter(one, name).load(), 50);
}

TEST_P(counters, wait_for_a_change_by_another_client) {
  auto waiter = start([&] { return counter(two, name, 1).wait(1); });
  hold_still(10ms);
  counter{one, name, 1}.store(6);
  EXPECT_EQ(waiter.get(), 6);
}

TEST_P(counters, wait_for_a_change_by_the_same_client) {
  auto waiter = start([&] { return counter(one, name).wait_for(0, long_time); });
  hold_still(10ms);
  counter{one, name}.fetch_add(1);
  EXPECT_EQ(waiter.get(), 1);
}

TEST_P(counters, wake_a_waiter_soon) {
  using clock = std::chrono::steady_clock;
  counter c{one, name};
  EXPECT_LT(quickest(500ms,
                     [&] {
                       const auto old = c.load();
                       auto waiter = start([&] {
                         counter(two, name).wait_for(old, long_time);
                         return clock::now();
                       });
                       hold_still(20ms);
                       const auto changed = clock::now();
                       c.fetch_add(1);
                       return waiter.get() - changed;
                     }),
            500ms);
}

TEST_P(counters, do_not_wait_if_the_value_differs_already) {
  counter c{one, name};
  c.store(3);
  EXPECT_EQ(c.wait(2), 3);
}

TEST_P(counters, give_up_when_the_time_is_over) {
  const counter c{one, name};
  EXPECT_GE(time_of([&] { EXPECT_EQ(c.wait_for(0, 30ms), std::nullopt); }), 30ms);
  std::error_code ec;
  EXPECT_EQ(c.wait_for(0, 5ms, ec), std::nullopt);
  EXPECT_EQ(ec, errc::timed_out);
}

TEST_P(counters, give_up_by_a_stop) {
  std::stop_source stop;
  auto waiter = start([&] {
    std::error_code ec;
    counter(one, name).wait(0, stop.get_token(), ec);
    return ec;
  });
  hold_still(10ms);
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
}

TEST_P(counters, refuse_calls_after_the_client_was_closed) {
  counter c{one, name};
  one.close();
  EXPECT_EQ(thrown_by([&] { c.fetch_add(1); }), errc::closed);
  std::error_code ec;
  c.load(ec);
  EXPECT_EQ(ec, errc::closed);
}

AFAR_FOR_EVERY_ENGINE(counters);

}  // namespace
}  // namespace afar::test
