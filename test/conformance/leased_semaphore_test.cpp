// Permits with owners. With one permit it is also among the locks of locks_test.cpp.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/leased_semaphore.hpp>

#include <atomic>
#include <vector>

namespace afar::test {
namespace {

class leased_semaphores : public engine_test {
 protected:
  void SetUp() override { need<leased_semaphore>("leased_semaphore", 1U); }
};

TEST_P(leased_semaphores, give_out_no_more_than_the_limit) {
  leased_semaphore mine{one, name, 3};
  leased_semaphore theirs{two, name, 3};
  const hold a = mine.try_acquire();
  const hold b = theirs.try_acquire();
  const hold c = mine.try_acquire();
  EXPECT_TRUE(a && b && c);
  EXPECT_FALSE(mine.try_acquire());
  EXPECT_FALSE(theirs.try_acquire());
}

TEST_P(leased_semaphores, give_several_permits_at_once) {
  leased_semaphore mine{one, name, 5};
  leased_semaphore theirs{two, name, 5};
  hold three = mine.acquire(3);
  EXPECT_FALSE(theirs.try_acquire(3));
  const hold two_more = theirs.try_acquire(2);
  EXPECT_TRUE(two_more);
  EXPECT_FALSE(mine.try_acquire());
  three.release();
  EXPECT_TRUE(theirs.try_acquire(3));
}

TEST_P(leased_semaphores, take_all_permits_or_none) {
  leased_semaphore mine{one, name, 4};
  leased_semaphore theirs{two, name, 4};
  const hold some = mine.acquire(2);
  EXPECT_FALSE(theirs.try_acquire_for(10ms, 3));
  EXPECT_TRUE(mine.try_acquire_for(slowness * 2s, 2)) << "a refused request keeps permits";
}

TEST_P(leased_semaphores, wake_a_waiter_when_enough_came_back) {
  leased_semaphore mine{one, name, 2};
  leased_semaphore theirs{two, name, 2};
  hold first = mine.acquire();
  hold second = mine.acquire();
  auto waiter = start([&] { return theirs.try_acquire_for(long_time, 2).valid(); });
  EXPECT_TRUE(has_waited(two));
  first.release();
  second.release();
  EXPECT_TRUE(waiter.get());
}

TEST_P(leased_semaphores, do_not_starve_a_large_request) {
  if (without_line()) return;
  leased_semaphore mine{one, name, 3};
  leased_semaphore theirs{two, name, 3};
  hold small = mine.acquire(1);
  auto large = start([&] { return theirs.try_acquire_for(long_time, 3).valid(); });
  EXPECT_TRUE(has_waited(two));
  EXPECT_FALSE(mine.try_acquire(1)) << "a small request overtook";
  small.release();
  EXPECT_TRUE(large.get());
}

TEST_P(leased_semaphores, serve_a_large_request_among_busy_small_ones) {
  if (without_line()) return;
  std::atomic<bool> done{false};
  auto busy = start([&] {
    in_parallel(3, [&](int i) {
      leased_semaphore s{i % 2 ? one : two, name, 2};
      while (!done) const hold h = s.acquire(1);
    });
  });
  const client three = connect();
  leased_semaphore s{three, name, 2};
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(s.try_acquire_for(slowness * 5s, 2)) << round;
  done = true;
  busy.get();
}

TEST_P(leased_semaphores, never_exceed_the_limit_under_contention) {
  constexpr int limit = 4;
  std::atomic<int> out{0};
  std::atomic<int> most{0};
  in_parallel(6, [&](int i) {
    leased_semaphore s{i % 2 ? one : two, name, limit};
    for (int round = 0; round < 25; ++round) {
      const int permits = (round + i) % limit + 1;
      const hold h = s.acquire(static_cast<std::uint32_t>(permits));
      const int now = out.fetch_add(permits) + permits;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      out.fetch_sub(permits);
    }
  });
  EXPECT_LE(most, limit);
  EXPECT_GT(most, 0);
  EXPECT_TRUE(leased_semaphore(one, name, limit).try_acquire_for(long_time, limit));
}

TEST_P(leased_semaphores, refuse_no_permits_and_more_than_the_limit) {
  leased_semaphore s{one, name, 2};
  EXPECT_EQ(thrown_by([&] { const hold h = s.acquire(0); }), errc::bad_argument);
  EXPECT_EQ(thrown_by([&] { const hold h = s.acquire(3); }), errc::bad_argument);
  std::error_code ec;
  EXPECT_FALSE(s.try_acquire(3, {}, ec));
  EXPECT_EQ(ec, errc::bad_argument);
}

TEST_P(leased_semaphores, refuse_a_limit_of_zero) {
  EXPECT_EQ(thrown_by([&] { leased_semaphore(one, name, 0); }), errc::bad_argument);
}

TEST_P(leased_semaphores, refuse_another_limit_and_say_which_one_holds) {
  leased_semaphore mine{one, name, 37};
  leased_semaphore theirs{two, name, 38};
  const hold h = mine.acquire();
  const auto failed = failure_of([&] { const hold none = theirs.acquire(); });
  EXPECT_EQ(failed.code, errc::wrong_use);
  EXPECT_NE(failed.message.find("37"), std::string::npos) << failed.message;
}

TEST_P(leased_semaphores, refuse_another_limit_inside_one_client) {
  leased_semaphore mine{one, name, 37};
  leased_semaphore ours{one, name, 38};
  const hold h = mine.acquire();
  EXPECT_EQ(thrown_by([&] { const hold none = ours.acquire(); }), errc::wrong_use);
}

TEST_P(leased_semaphores, give_every_hold_a_token_of_its_own) {
  leased_semaphore mine{one, name, 3};
  leased_semaphore theirs{two, name, 3};
  const hold a = mine.acquire();
  const hold b = theirs.acquire();
  const hold c = mine.acquire();
  EXPECT_LT(a.token(), b.token());
  EXPECT_LT(b.token(), c.token());
}

TEST_P(leased_semaphores, get_permits_back_when_a_lease_ends) {
  leased_semaphore mine{one, name, 3};
  leased_semaphore theirs{two, name, 3};
  const hold brief = mine.acquire(2, {.lease = 50ms, .renew = renewal::off});
  const hold other = theirs.acquire(1);
  EXPECT_TRUE(theirs.try_acquire_for(long_time, 2));
  EXPECT_TRUE(other.valid());
  EXPECT_FALSE(brief.valid());
}

TEST_P(leased_semaphores, let_threads_of_one_client_hold_together) {
  leased_semaphore s{one, name, 3};
  std::atomic<int> inside{0};
  in_parallel(3, [&](int) {
    const hold h = s.acquire();
    ++inside;
    EXPECT_TRUE(eventually([&] { return inside == 3; }));
  });
}

AFAR_FOR_EVERY_ENGINE(leased_semaphores);

}  // namespace
}  // namespace afar::test
