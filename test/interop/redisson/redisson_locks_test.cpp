// Redisson's locks and afar's, both ways: who holds keeps the other out, a release wakes the other at
// once, the dead let go after their lease, and both renew.
#include "redisson_fixture.hpp"

#include <ostream>

namespace afar::test {
namespace {

// One lock in both libraries.
struct lock_kind {
  std::string java;
  std::string afar;
  std::string channel;  // where Redisson's waiters listen, before the name
};
void PrintTo(const lock_kind& k, std::ostream* out) { *out << k.java; }

class redisson_locks : public redisson_base, public ::testing::WithParamInterface<lock_kind> {
 protected:
  hold try_for(nanoseconds time) const {
    const auto& kind = GetParam().afar;
    if (kind == "fair") return fair_mutex{locks, name}.try_acquire_for(time);
    if (kind == "write") return shared_mutex{locks, name}.try_acquire_for(time);
    return mutex{locks, name}.try_acquire_for(time);
  }
  std::string to_java(const std::string& verb) const {
    return verb + " " + GetParam().java + " " + name;
  }
  std::string to_afar(const std::string& verb) const {
    return verb + " " + GetParam().afar + " " + name;
  }
  bool java_waits() const {
    if (GetParam().java == "fair") return in_line(1);
    return subscribed(GetParam().channel + ":{" + name + "}");
  }
};

TEST_P(redisson_locks, of_java_are_waited_for_and_wake_afar_at_once) {
  const auto best = quickest(soon, [&] {
    EXPECT_EQ(java->ask("a", to_java("lock")), "ok");
    EXPECT_FALSE(try_for(0ns));
    const auto before = locks.stats().waited;
    auto waiter = start([&] { return try_for(long_time).valid(); });
    EXPECT_TRUE(has_waited(locks, before + 1));
    hold_still(50ms);  // it asks once more when it listens
    return time_of([&] {
      EXPECT_EQ(java->ask("a", to_java("unlock")), "ok");
      EXPECT_TRUE(waiter.get());
    });
  });
  EXPECT_LT(best, soon);
}

TEST_P(redisson_locks, of_afar_are_waited_for_and_wake_java_at_once) {
  const auto best = quickest(soon, [&] {
    hold mine = try_for(long_time);
    EXPECT_EQ(java->ask("a", to_java("try")), "false");
    java->send("a", to_java("lock"));
    EXPECT_TRUE(java_waits());
    EXPECT_FALSE(java->has_answered("a", 50ms));
    const auto taken = time_of([&] {
      mine.release();
      EXPECT_EQ(java->answer("a"), "ok");
    });
    EXPECT_FALSE(try_for(0ns));
    EXPECT_EQ(java->ask("a", to_java("unlock")), "ok");
    return taken;
  });
  EXPECT_LT(best, soon);
}

TEST_P(redisson_locks, of_a_java_that_died_come_free_after_its_lease) {
  ASSERT_EQ(java->ask("a", to_java("lock")), "ok");
  kill_java();
  EXPECT_FALSE(try_for(0ns));
  EXPECT_LT(time_of([&] { EXPECT_TRUE(try_for(long_time)); }), java_lease + 2s);
}

TEST_P(redisson_locks, of_an_afar_that_died_come_free_after_its_lease) {
  auto victim = start_afar("&lease=2s");
  ASSERT_NE(victim->ask("a", to_afar("lock")), "0");
  victim->kill();
  EXPECT_EQ(java->ask("a", to_java("try")), "false");
  EXPECT_LT(time_of([&] { EXPECT_EQ(java->ask("a", to_java("lock")), "ok"); }), 2s + 2s);
  EXPECT_EQ(java->ask("a", to_java("unlock")), "ok");
}

TEST_P(redisson_locks, of_java_outlast_their_first_lease) {
  ASSERT_EQ(java->ask("a", to_java("lock")), "ok");
  EXPECT_FALSE(try_for(java_lease + 1s));
  EXPECT_EQ(java->ask("a", to_java("unlock")), "ok");
  EXPECT_TRUE(try_for(long_time));
}

TEST_P(redisson_locks, of_afar_outlast_their_first_lease) {
  auto other = start_afar("&lease=3s");
  ASSERT_NE(other->ask("a", to_afar("lock")), "0");
  java->send("a", to_java("lock"));
  EXPECT_FALSE(java->has_answered("a", 5s));
  EXPECT_EQ(other->ask("a", to_afar("unlock")), "ok");
  EXPECT_EQ(java->answer("a"), "ok");
  EXPECT_EQ(java->ask("a", to_java("unlock")), "ok");
}

TEST_P(redisson_locks, that_java_holds_twice_are_free_when_it_let_go_twice) {
  ASSERT_EQ(java->ask("a", to_java("lock")), "ok");
  ASSERT_EQ(java->ask("a", to_java("lock")), "ok");
  EXPECT_EQ(java->ask("a", to_java("count")), "2");
  ASSERT_EQ(java->ask("a", to_java("unlock")), "ok");
  EXPECT_FALSE(try_for(20ms));
  ASSERT_EQ(java->ask("a", to_java("unlock")), "ok");
  EXPECT_TRUE(try_for(long_time));
}

TEST_P(redisson_locks, are_shown_and_broken_whoever_holds_them) {
  ASSERT_EQ(java->ask("a", to_java("lock")), "ok");
  const auto seen = inspect(locks, name);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_TRUE(evict(locks, name, seen->holders[0].token));
  EXPECT_TRUE(try_for(long_time));
  // Redisson calls the unlock of a fair lock that is gone a success.
  const bool fair = GetParam().java == "fair";
  EXPECT_EQ(java->ask("a", to_java("unlock")), fair ? "ok" : "error IllegalMonitorStateException");
}

INSTANTIATE_TEST_SUITE_P(, redisson_locks,
                         ::testing::Values(lock_kind{"lock", "lock", "redisson_lock__channel"},
                                           lock_kind{"fair", "fair", ""},
                                           lock_kind{"fenced", "lock", "redisson_lock__channel"},
                                           lock_kind{"write", "write", "redisson_rwlock"}),
                         [](const auto& of) { return of.param.java; });

}  // namespace
}  // namespace afar::test
