// What the kinds of Redisson have beyond a lock: order, readers, tokens, permits, counts.
#include "redisson_fixture.hpp"

#include <mutex>
#include <vector>

namespace afar::test {
namespace {

class redisson : public redisson_base {
 protected:
  std::string of(const std::string& verb_and_kind, const std::string& more = {}) const {
    return verb_and_kind + " " + name + (more.empty() ? "" : " " + more);
  }
};

TEST_F(redisson, fair_locks_serve_java_and_afar_in_one_line) {
  std::mutex m;
  std::vector<std::string> served;
  hold first = fair_mutex{locks, name}.acquire();
  java->send("a", of("lock fair"));
  ASSERT_TRUE(in_line(1));
  auto mine = start([&] {
    const hold got = fair_mutex{locks, name}.try_acquire_for(long_time);
    EXPECT_TRUE(got);
    const std::lock_guard lock{m};
    served.push_back("afar");
  });
  ASSERT_TRUE(in_line(2));
  java->send("b", of("lock fair"));
  ASSERT_TRUE(in_line(3));
  first.release();
  EXPECT_EQ(java->answer("a"), "ok");
  {
    const std::lock_guard lock{m};
    EXPECT_TRUE(served.empty()) << "afar overtook Java";
  }
  EXPECT_FALSE(java->has_answered("b"));
  EXPECT_EQ(java->ask("a", of("unlock fair")), "ok");
  EXPECT_EQ(java->answer("b"), "ok");
  {
    const std::lock_guard lock{m};
    EXPECT_EQ(served.size(), 1U) << "Java overtook afar";
  }
  mine.get();
  EXPECT_EQ(java->ask("b", of("unlock fair")), "ok");
}

// Java sleeps until the lease that it has seen ends, whoever is dead before it; afar looks for it.
TEST_F(redisson, fair_lines_move_on_when_a_waiting_afar_dies) {
  for (const bool another_waits : {false, true}) {
    ASSERT_EQ(java->ask("a", of("lock fair")), "ok");
    auto victim = start_afar();
    victim->send("a", of("lock fair"));
    ASSERT_TRUE(in_line(1));
    java->send("b", of("lock fair"));
    ASSERT_TRUE(in_line(2));
    auto other = another_waits ? start_afar() : nullptr;
    if (other) other->send("a", of("lock fair"));
    ASSERT_TRUE(in_line(other ? 3 : 2));
    victim->kill();
    const auto taken = time_of([&] {
      EXPECT_EQ(java->ask("a", of("unlock fair")), "ok");
      EXPECT_EQ(java->answer("b"), "ok");
    });
    EXPECT_LT(taken, (another_waits ? 3s : nanoseconds{java_lease}) + 2s);
    EXPECT_EQ(java->ask("b", of("unlock fair")), "ok");
    if (other) {
      EXPECT_NE(other->answer("a"), "0");
    }
  }
}

TEST_F(redisson, readers_of_both_are_in_together_and_keep_writers_of_both_out) {
  ASSERT_EQ(java->ask("r", of("lock read")), "ok");
  shared_mutex book{locks, name};
  hold mine = book.try_acquire_shared_for(long_time);
  ASSERT_TRUE(mine);
  EXPECT_FALSE(book.try_lock());
  EXPECT_EQ(java->ask("w", of("try write")), "false");
  EXPECT_EQ(java->ask("r", of("unlock read")), "ok");
  EXPECT_EQ(java->ask("w", of("try write")), "false");
  java->send("w", of("lock write"));
  ASSERT_TRUE(subscribed("redisson_rwlock:{" + name + "}"));
  mine.release();
  EXPECT_EQ(java->answer("w"), "ok");
  EXPECT_FALSE(book.try_lock_shared());
  EXPECT_EQ(java->ask("w", of("unlock write")), "ok");
  EXPECT_TRUE(book.try_lock_for(long_time));
}

TEST_F(redisson, readers_of_java_are_woken_at_once_by_a_downgrade) {
  shared_mutex book{locks, name};
  const auto best = quickest(soon, [&] {
    hold mine = book.acquire();
    java->send("r", of("lock read"));
    EXPECT_TRUE(subscribed("redisson_rwlock:{" + name + "}"));
    EXPECT_FALSE(java->has_answered("r", 50ms));
    const auto taken = time_of([&] {
      book.downgrade(mine);
      EXPECT_EQ(java->answer("r"), "ok");
    });
    EXPECT_EQ(java->ask("r", of("unlock read")), "ok");
    return taken;
  });
  EXPECT_LT(best, soon);
}

TEST_F(redisson, readers_that_died_let_writers_in_after_their_lease) {
  auto victim = start_afar("&lease=2s");
  ASSERT_NE(victim->ask("r", of("lock read")), "0");
  victim->kill();
  EXPECT_EQ(java->ask("w", of("try write")), "false");
  EXPECT_LT(time_of([&] { EXPECT_EQ(java->ask("w", of("lock write")), "ok"); }), 2s + 2s);
  EXPECT_EQ(java->ask("w", of("unlock write")), "ok");

  ASSERT_EQ(java->ask("r", of("lock read")), "ok");
  kill_java();
  shared_mutex book{locks, name};
  EXPECT_FALSE(book.try_lock());
  EXPECT_LT(time_of([&] { EXPECT_TRUE(book.try_lock_for(long_time)); }), java_lease + 2s);
}

TEST_F(redisson, readers_of_both_outlast_their_first_lease) {
  auto other = start_afar("&lease=6s");
  ASSERT_EQ(java->ask("r", of("lock read")), "ok");
  ASSERT_NE(other->ask("r", of("lock read")), "0");
  shared_mutex book{locks, name};
  EXPECT_FALSE(book.try_lock_for(java_lease + 1s));
  EXPECT_EQ(java->ask("r", of("unlock read")), "ok");
  EXPECT_FALSE(book.try_lock_for(7s)) << "afar's reader is still there";
  EXPECT_EQ(other->ask("r", of("unlock read")), "ok");
  EXPECT_TRUE(book.try_lock_for(long_time));
}

TEST_F(redisson, fenced_locks_share_one_sequence_of_tokens) {
  std::uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    hold mine = mutex{locks, name}.acquire();
    EXPECT_GT(mine.token(), last);
    last = mine.token();
    mine.release();
    const auto theirs = std::stoull(java->ask("a", of("lock token")));
    EXPECT_GT(theirs, last);
    last = theirs;
    EXPECT_EQ(java->ask("a", of("unlock fenced")), "ok");
  }
}

TEST_F(redisson, expirable_permits_are_counted_together_and_wake_both_at_once) {
  leased_semaphore seats{locks, name, 1};
  const auto to_java = quickest(soon, [&] {
    hold mine = seats.acquire();
    java->send("a", of("acquire permits", "30000"));
    EXPECT_TRUE(subscribed("redisson_sc:{" + name + "}"));
    EXPECT_FALSE(java->has_answered("a", 50ms));
    std::string id;
    const auto taken = time_of([&] {
      mine.release();
      id = java->answer("a");
    });
    EXPECT_EQ(id.size(), 32U) << id;
    EXPECT_FALSE(seats.try_acquire());
    EXPECT_EQ(java->ask("a", of("release permits", id)), "ok");
    return taken;
  });
  EXPECT_LT(to_java, soon);
  const auto to_afar = quickest(soon, [&] {
    const auto id = java->ask("a", of("acquire permits", "30000"));
    const auto before = locks.stats().waited;
    auto waiter = start([&] { return seats.try_acquire_for(long_time).valid(); });
    EXPECT_TRUE(has_waited(locks, before + 1));
    hold_still(50ms);  // it asks once more when it listens
    return time_of([&] {
      EXPECT_EQ(java->ask("a", of("release permits", id)), "ok");
      EXPECT_TRUE(waiter.get());
    });
  });
  EXPECT_LT(to_afar, soon);
}

TEST_F(redisson, expirable_permits_that_java_has_set_are_the_limit) {
  ASSERT_EQ(java->ask("a", of("set permits", "3")), "true");
  leased_semaphore seats{locks, name, 3};
  const hold one = seats.acquire(2);
  EXPECT_EQ(java->ask("a", of("free permits")), "1");
  const auto id = java->ask("a", of("acquire permits", "30000"));
  EXPECT_FALSE(seats.try_acquire());
  EXPECT_EQ(java->ask("a", of("release permits", id)), "ok");
  leased_semaphore other{locks, name, 4};
  std::error_code ec;
  EXPECT_FALSE(other.try_acquire(1, {}, ec));
  EXPECT_EQ(ec, errc::wrong_use);
}

TEST_F(redisson, expirable_permits_of_the_dead_come_back) {
  leased_semaphore seats{locks, name, 1};
  auto victim = start_afar("&lease=2s");
  ASSERT_NE(victim->ask("a", of("lock permits")), "0");
  victim->kill();
  std::string id;
  EXPECT_LT(time_of([&] { id = java->ask("a", of("acquire permits", "2000")); }), 2s + 2s);
  EXPECT_EQ(id.size(), 32U) << id;
  EXPECT_LT(time_of([&] { EXPECT_TRUE(seats.try_acquire_for(long_time)); }), 2s + 2s);
}

TEST_F(redisson, expirable_permits_of_afar_outlast_their_first_lease) {
  auto other = start_afar("&lease=3s");
  ASSERT_NE(other->ask("a", of("lock permits")), "0");
  java->send("a", of("acquire permits", "1000"));
  EXPECT_FALSE(java->has_answered("a", 5s));
  EXPECT_EQ(other->ask("a", of("unlock permits")), "ok");
  EXPECT_EQ(java->answer("a").size(), 32U);
}

TEST_F(redisson, semaphores_are_one) {
  ASSERT_EQ(java->ask("a", of("set semaphore", "1")), "true");
  counting_semaphore<> gate{locks, name, 1};
  gate.acquire();
  java->send("a", of("acquire semaphore"));
  ASSERT_TRUE(subscribed("redisson_sc:{" + name + "}"));
  EXPECT_FALSE(java->has_answered("a", 50ms));
  gate.release();
  EXPECT_EQ(java->answer("a"), "ok");
  EXPECT_FALSE(gate.try_acquire());
  auto waiter = start([&] { return gate.try_acquire_for(long_time); });
  ASSERT_TRUE(subscribed("redisson_sc:{" + name + "}"));
  EXPECT_EQ(java->ask("a", of("release semaphore")), "ok");
  EXPECT_TRUE(waiter.get());
}

TEST_F(redisson, latches_are_one) {
  latch done{locks, name, 2};
  done.count_down();
  EXPECT_EQ(java->ask("a", of("count latch")), "1");
  java->send("a", of("await latch"));
  ASSERT_TRUE(subscribed("redisson_countdownlatch__channel__{" + name + "}"));
  done.count_down();
  EXPECT_EQ(java->answer("a"), "ok");

  const std::string mixed = name + "/mixed";
  latch both{locks, mixed, 2};
  both.count_down();
  EXPECT_EQ(java->ask("a", "down latch " + mixed), "ok");
  EXPECT_TRUE(both.wait_for(long_time));

  const std::string other = name + "/java";
  ASSERT_EQ(java->ask("a", "set latch " + other + " 1"), "true");
  latch theirs{locks, other};
  auto waiter = start([&] { return theirs.wait_for(long_time); });
  ASSERT_TRUE(subscribed("redisson_countdownlatch__channel__{" + other + "}"));
  EXPECT_EQ(java->ask("a", "down latch " + other), "ok");
  EXPECT_TRUE(waiter.get());
}

TEST_F(redisson, atomic_longs_are_one) {
  counter total{locks, name};
  total.store(40);
  EXPECT_EQ(java->ask("a", of("add long", "2")), "42");
  EXPECT_EQ(total.fetch_add(1), 42);
  EXPECT_EQ(java->ask("a", of("get long")), "43");
}

}  // namespace
}  // namespace afar::test
