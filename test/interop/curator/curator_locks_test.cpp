// Curator's locks and afar's, both ways: who holds keeps the other out, a release wakes the other at
// once, and the dead let go when their session ends.
#include "curator_fixture.hpp"

#include <ostream>
#include <tuple>

namespace afar::test {
namespace {

// One lock in both libraries.
struct lock_kind {
  std::string java;
  std::string options;  // of afar's URL
};
void PrintTo(const lock_kind& k, std::ostream* out) { *out << k.java; }

class curator_locks : public curator_base,
                      public ::testing::WithParamInterface<std::tuple<std::string, lock_kind>> {
 protected:
  void SetUp() override {
    if (!use_java(std::get<0>(GetParam()))) GTEST_SKIP() << "the registry cannot be reached";
    mine = client{url(kind().options)};
  }
  const lock_kind& kind() const { return std::get<1>(GetParam()); }

  hold try_for(nanoseconds time) const {
    if (kind().java == "write") return shared_mutex{mine, name}.try_acquire_for(time);
    return mutex{mine, name}.try_acquire_for(time);
  }
  std::string to_java(const std::string& verb) const { return of(verb + " " + kind().java); }
  std::string to_afar(const std::string& verb) const {
    return verb + (kind().java == "write" ? " write " : " lock ") + name;
  }
  bool java_waits() { return nodes(2, kind().java == "single" ? "/leases" : ""); }

  client mine{"memory:none"};
};

TEST_P(curator_locks, of_java_are_waited_for_and_wake_afar_at_once) {
  const auto best = quickest(soon, [&] {
    EXPECT_EQ(java().ask("a", to_java("lock")), "ok");
    EXPECT_FALSE(try_for(0ns));
    const auto before = mine.stats().waited;
    auto waiter = start([&] { return try_for(long_time).valid(); });
    EXPECT_TRUE(has_waited(mine, before + 1));
    hold_still(50ms);  // it asks once more when it listens
    return time_of([&] {
      EXPECT_EQ(java().ask("a", to_java("unlock")), "ok");
      EXPECT_TRUE(waiter.get());
    });
  });
  EXPECT_LT(best, soon);
}

TEST_P(curator_locks, of_afar_are_waited_for_and_wake_java_at_once) {
  const auto best = quickest(soon, [&] {
    hold held = try_for(long_time);
    EXPECT_EQ(java().ask("a", to_java("try")), "false");
    java().send("a", to_java("lock"));
    EXPECT_TRUE(java_waits());
    EXPECT_FALSE(java().has_answered("a", 50ms));
    const auto taken = time_of([&] {
      held.release();
      EXPECT_EQ(java().answer("a"), "ok");
    });
    EXPECT_FALSE(try_for(0ns));
    EXPECT_EQ(java().ask("a", to_java("unlock")), "ok");
    return taken;
  });
  EXPECT_LT(best, soon);
}

TEST_P(curator_locks, of_a_java_that_died_come_free_after_its_session) {
  ASSERT_EQ(java().ask("a", to_java("lock")), "ok");
  kill_java();
  EXPECT_FALSE(try_for(0ns));
  EXPECT_LT(time_of([&] { EXPECT_TRUE(try_for(long_time)); }), after_session);
}

TEST_P(curator_locks, of_an_afar_that_died_come_free_after_its_session) {
  auto victim = start_afar(kind().options);
  ASSERT_NE(victim->ask("a", to_afar("lock")), "0");
  victim->kill();
  EXPECT_EQ(java().ask("a", to_java("try")), "false");
  EXPECT_LT(time_of([&] { EXPECT_EQ(java().ask("a", to_java("lock")), "ok"); }), after_session);
  EXPECT_EQ(java().ask("a", to_java("unlock")), "ok");
}

TEST_P(curator_locks, of_both_outlast_a_session) {
  auto other = start_afar(kind().options);
  ASSERT_NE(other->ask("a", to_afar("lock")), "0");
  java().send("a", to_java("lock"));
  EXPECT_FALSE(java().has_answered("a", peer_session + 1s));
  EXPECT_EQ(other->ask("a", to_afar("unlock")), "ok");
  EXPECT_EQ(java().answer("a"), "ok");
  EXPECT_FALSE(try_for(peer_session + 1s));
  EXPECT_EQ(java().ask("a", to_java("unlock")), "ok");
  EXPECT_TRUE(try_for(long_time));
}

TEST_P(curator_locks, go_from_hand_to_hand_under_load) {
  java().send("a", of("race " + kind().java, "2000"));
  java().send("b", of("race " + kind().java, "2000"));
  int grants = 0;
  std::uint64_t last = 0;
  while (!java().has_answered("a")) {
    const hold h = try_for(long_time);
    ASSERT_TRUE(h);
    EXPECT_GT(h.token(), last);
    last = h.token();
    ++grants;
  }
  // The line is fair: nobody starves.
  EXPECT_GT(std::stoi(java().answer("a")), 10);
  EXPECT_GT(std::stoi(java().answer("b")), 10);
  EXPECT_GT(grants, 10);
}

INSTANTIATE_TEST_SUITE_P(
    , curator_locks,
    ::testing::Combine(::testing::Values(debians_curator, newer_curator),
                       ::testing::Values(lock_kind{"lock", ""},
                                         lock_kind{"single", "&layout=semaphore-mutex"},
                                         lock_kind{"write", ""})),
    [](const auto& is) {
      return version_name(std::get<0>(is.param)) + "_" + std::get<1>(is.param).java;
    });

class curator_mutex : public curator_test {};

TEST_P(curator_mutex, that_java_holds_twice_is_free_when_it_let_go_twice) {
  mutex mine{locks, name};
  ASSERT_EQ(java().ask("a", of("lock lock")), "ok");
  ASSERT_EQ(java().ask("a", of("lock lock")), "ok");
  ASSERT_EQ(java().ask("a", of("unlock lock")), "ok");
  EXPECT_FALSE(mine.try_lock_for(50ms));
  ASSERT_EQ(java().ask("a", of("unlock lock")), "ok");
  EXPECT_TRUE(mine.try_lock_for(long_time));
}

TEST_P(curator_mutex, that_afar_holds_twice_is_free_when_it_let_go_twice) {
  recursive_mutex mine{locks, name};
  mine.lock();
  mine.lock();
  mine.unlock();
  EXPECT_EQ(java().ask("a", of("try lock")), "false");
  mine.unlock();
  EXPECT_EQ(java().ask("a", of("lock lock")), "ok");
}

TEST_P(curator_mutex, serves_both_in_the_order_in_which_they_came) {
  hold first = fair_mutex{locks, name}.acquire();
  java().send("a", of("lock lock"));
  ASSERT_TRUE(nodes(2));
  auto mine = start([&] { return fair_mutex{locks, name}.try_acquire_for(long_time); });
  ASSERT_TRUE(nodes(3));
  java().send("b", of("lock lock"));
  ASSERT_TRUE(nodes(4));
  first.release();
  EXPECT_EQ(java().answer("a"), "ok");
  EXPECT_EQ(mine.wait_for(50ms), std::future_status::timeout) << "afar overtook Java";
  EXPECT_EQ(java().ask("a", of("unlock lock")), "ok");
  hold second = mine.get();
  EXPECT_TRUE(second);
  EXPECT_FALSE(java().has_answered("b", 50ms)) << "Java overtook afar";
  second.release();
  EXPECT_EQ(java().answer("b"), "ok");
}

TEST_P(curator_mutex, is_shown_and_broken_whoever_holds_it) {
  ASSERT_EQ(java().ask("a", of("lock lock")), "ok");
  const auto seen = inspect(locks, name);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->holders.size(), 1U);
  EXPECT_TRUE(evict(locks, name, seen->holders[0].token));
  EXPECT_TRUE(mutex(locks, name).try_lock_for(long_time));
}

// Curator's Revoker writes its word into the holder's node; it is a request, not an eviction.
TEST_P(curator_mutex, of_afar_is_asked_for_by_a_revoker) {
  const client quick{url(), {.lease = 900ms}};
  hold mine = mutex{quick, name}.acquire();
  ASSERT_TRUE(eventually([&] { return quick.stats().renewed > 0; }));
  java().send("a", of("lock lock"));
  ASSERT_TRUE(nodes(2));
  ASSERT_EQ(java().ask("b", of("revoke lock")), "ok");
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_EQ(mine.why(), loss_reason::asked);
  EXPECT_FALSE(java().has_answered("a", 50ms)) << "it is still held";
  mine.release();
  EXPECT_EQ(java().answer("a"), "ok");
}

TEST_P(curator_mutex, of_a_revocable_Java_is_asked_for_by_afar) {
  ASSERT_EQ(java().ask("a", of("lock revocable")), "ok");
  const auto seen = inspect(locks, name);
  ASSERT_TRUE(seen && seen->holders.size() == 1);
  EXPECT_TRUE(ask_back(locks, name, seen->holders[0].token));
  EXPECT_EQ(java().ask("a", of("asked revocable")), "ok");
  EXPECT_FALSE(mutex(locks, name).try_acquire()) << "it is still held";
  EXPECT_EQ(java().ask("a", of("unlock revocable")), "ok");
  EXPECT_TRUE(mutex(locks, name).try_acquire_for(long_time));
}

TEST_P(curator_mutex, is_one_of_several_for_both) {
  const std::string other = fresh_segment();
  const std::string all = path() + ",/test/" + other;
  mutex one{locks, name};
  mutex two{locks, other};
  multi_lock mine{one, two};
  ASSERT_EQ(java().ask("a", "lock multi " + all), "ok");
  EXPECT_FALSE(mine.try_lock());
  EXPECT_FALSE(one.try_lock());
  EXPECT_EQ(java().ask("a", "unlock multi " + all), "ok");
  ASSERT_TRUE(mine.try_lock_for(long_time));
  EXPECT_EQ(java().ask("a", "try multi " + all), "false");
  java().send("a", "lock multi " + all);
  EXPECT_FALSE(java().has_answered("a", 50ms));
  mine.unlock();
  EXPECT_EQ(java().answer("a"), "ok");
}

AFAR_FOR_BOTH_CURATORS(curator_mutex);

}  // namespace
}  // namespace afar::test
