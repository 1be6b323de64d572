// Locks under contention: several clients with several threads each want one name.
#include "support/any_lock.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace afar::test {
namespace {

class contended_locks : public any_lock_test {};

// Read, then write: loses counts if two are inside at once. Atomic only so that the lock itself is
// all that orders them, which a race detector cannot see for locks of another process.
void count_up(std::atomic<int>& n) {
  n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

TEST_P(contended_locks, count_exactly) {
  constexpr int threads = 6;
  constexpr int rounds = 30;
  std::atomic<int> total{0};
  std::atomic<int> inside{0};
  in_parallel(threads, [&](int i) {
    auto lock = lock_of(i % 2 ? one : two);
    for (int round = 0; round < rounds; ++round) {
      const std::lock_guard guard{*lock};
      EXPECT_EQ(inside.fetch_add(1), 0);
      count_up(total);
      inside.fetch_sub(1);
    }
  });
  EXPECT_EQ(total, threads * rounds);
}

TEST_P(contended_locks, count_exactly_when_threads_share_one_object) {
  constexpr int threads = 4;
  constexpr int rounds = 30;
  auto lock = lock_of(one);
  std::atomic<int> total{0};
  in_parallel(threads, [&](int) {
    for (int round = 0; round < rounds; ++round) {
      const std::lock_guard guard{*lock};
      count_up(total);
    }
  });
  EXPECT_EQ(total, threads * rounds);
}

TEST_P(contended_locks, count_exactly_with_timed_tries) {
  constexpr int threads = 4;
  constexpr int rounds = 40;
  std::atomic<int> total{0};
  std::atomic<int> granted{0};
  in_parallel(threads, [&](int i) {
    auto lock = lock_of(i % 2 ? one : two);
    for (int round = 0; round < rounds; ++round) {
      if (!lock->try_lock_for(round % 3 * 1ms)) continue;
      ++granted;
      count_up(total);
      lock->unlock();
    }
  });
  EXPECT_EQ(total, granted);
  EXPECT_GT(granted, 0);
}

TEST_P(contended_locks, have_tokens_that_grow_with_every_grant) {
  std::mutex order;
  std::vector<std::uint64_t> tokens;
  in_parallel(6, [&](int i) {
    auto lock = lock_of(i % 2 ? one : two);
    for (int round = 0; round < 20; ++round) {
      const std::lock_guard guard{*lock};
      const std::lock_guard memory{order};
      tokens.push_back(lock->token());
    }
  });
  for (std::size_t i = 1; i < tokens.size(); ++i) ASSERT_LT(tokens[i - 1], tokens[i]) << i;
}

TEST_P(contended_locks, have_tokens_that_grow_when_handed_on_inside_one_client) {
  std::mutex order;
  std::vector<std::uint64_t> tokens;
  in_parallel(4, [&](int) {
    auto lock = lock_of(one);
    for (int round = 0; round < 30; ++round) {
      const std::lock_guard guard{*lock};
      const std::lock_guard memory{order};
      tokens.push_back(lock->token());
    }
  });
  auto theirs = lock_of(two);
  theirs->lock();
  tokens.push_back(theirs->token());
  for (std::size_t i = 1; i < tokens.size(); ++i) ASSERT_LT(tokens[i - 1], tokens[i]) << i;
}

// Hand-overs inside a client are cheap, but bounded.
TEST_P(contended_locks, give_each_of_two_busy_clients_its_share) {
  constexpr int grants = 1'000;  // so many that streaks even out
  std::array<std::atomic<int>, 2> share{};
  in_parallel(8, [&](int i) {
    const std::size_t who = i % 2 ? 1 : 0;
    auto lock = lock_of(who ? one : two);
    while (share[0] + share[1] < grants) {
      const std::lock_guard guard{*lock};
      ++share[who];
      hold_still(100us);  // so that the others queue
    }
  });
  EXPECT_GE(share[0], grants / 5);
  EXPECT_GE(share[1], grants / 5);
}

AFAR_FOR_EVERY_ENGINE_AND(contended_locks, every_lock);

}  // namespace
}  // namespace afar::test
