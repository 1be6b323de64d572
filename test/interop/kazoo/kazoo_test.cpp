// kazoo's recipes and afar's: with the two-line class of docs/engines/zookeeper.md both ways, without it
// one way.
#include "../curator/curator_fixture.hpp"

namespace afar::test {
namespace {

class kazoo : public curator_base {
 protected:
  void SetUp() override { std::cout << "kazoo " << python.version() << '\n'; }

  peer python{{"/usr/bin/python3", AFAR_INTEROP "/kazoo/peer.py", server->address(),
               std::to_string(peer_session.count())}};
  mutex mine{locks, name};
};

TEST_F(kazoo, locks_of_the_two_line_class_and_afars_exclude_each_other) {
  ASSERT_EQ(python.ask("a", of("lock lock")), "ok");
  EXPECT_FALSE(mine.try_lock());
  auto waiter = start([&] { return mine.try_lock_for(long_time); });
  ASSERT_TRUE(nodes(2));
  EXPECT_EQ(python.ask("a", of("unlock lock")), "ok");
  EXPECT_TRUE(waiter.get());

  EXPECT_EQ(python.ask("b", of("try lock")), "false");
  python.send("c", of("lock lock"));
  EXPECT_FALSE(python.has_answered("c", 100ms));
  mine.unlock();
  EXPECT_EQ(python.answer("c"), "ok");
  EXPECT_FALSE(mine.try_lock());
}

TEST_F(kazoo, locks_wake_each_other_at_once) {
  const auto to_python = quickest(soon, [&] {
    hold held = mine.acquire();
    python.send("a", of("lock lock"));
    EXPECT_TRUE(nodes(2));
    EXPECT_FALSE(python.has_answered("a", 50ms));
    return time_of([&] {
      held.release();
      EXPECT_EQ(python.answer("a"), "ok");
      EXPECT_EQ(python.ask("a", of("unlock lock")), "ok");
    });
  });
  EXPECT_LT(to_python, soon);
  const auto to_afar = quickest(soon, [&] {
    EXPECT_EQ(python.ask("a", of("lock lock")), "ok");
    const auto before = locks.stats().waited;
    auto waiter = start([&] { return mine.try_acquire_for(long_time).valid(); });
    EXPECT_TRUE(has_waited(locks, before + 1));
    hold_still(50ms);  // it asks once more when it listens
    return time_of([&] {
      EXPECT_EQ(python.ask("a", of("unlock lock")), "ok");
      EXPECT_TRUE(waiter.get());
    });
  });
  EXPECT_LT(to_afar, soon);
}

TEST_F(kazoo, locks_of_the_dead_end_with_their_session) {
  auto victim = start_afar();
  ASSERT_NE(victim->ask("a", "lock lock " + name), "0");
  victim->kill();
  EXPECT_EQ(python.ask("a", of("try lock")), "false");
  EXPECT_LT(time_of([&] { EXPECT_EQ(python.ask("b", of("lock lock")), "ok"); }), after_session);
  python.kill();
  EXPECT_LT(time_of([&] { EXPECT_TRUE(mine.try_lock_for(long_time)); }), after_session);
}

// kazoo's own names: nobody but kazoo and afar looks at them.
TEST_F(kazoo, plain_locks_are_waited_for_but_do_not_wait) {
  ASSERT_EQ(python.ask("a", of("lock plain")), "ok");
  EXPECT_FALSE(mine.try_lock());
  EXPECT_EQ(python.ask("a", of("unlock plain")), "ok");
  ASSERT_TRUE(mine.try_lock_for(long_time));
  EXPECT_EQ(python.ask("b", of("try plain")), "true") << "the docs may promise more now";
}

TEST_F(kazoo, counters_that_support_curator_are_one) {
  const client narrow{url("&width=4")};
  counter total{narrow, name};
  total.store(40);
  EXPECT_EQ(python.ask("a", of("add count", "2")), "42");
  EXPECT_EQ(total.fetch_add(1), 42);
  EXPECT_EQ(python.ask("a", of("get count")), "43");
}

}  // namespace
}  // namespace afar::test
