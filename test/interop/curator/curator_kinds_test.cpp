// What the kinds of Curator have beyond a lock: permits, counts, leaders, barriers.
#include "curator_fixture.hpp"
#include "support/zookeeper_proxy.hpp"

namespace afar::test {
namespace {

// ---- permits --------------------------------------------------------------------------------------

class curator_permits : public curator_test {};

TEST_P(curator_permits, are_counted_together) {
  leased_semaphore seats{locks, name, 3};
  const hold two = seats.acquire(2);
  ASSERT_EQ(java().ask("a", of("lock permits", "3")), "ok");
  EXPECT_FALSE(seats.try_acquire());
  EXPECT_EQ(java().ask("b", of("try permits", "3")), "false");
  EXPECT_EQ(java().ask("a", of("unlock permits", "3")), "ok");
  EXPECT_TRUE(seats.try_acquire_for(long_time));
}

TEST_P(curator_permits, wake_both_at_once) {
  leased_semaphore seats{locks, name, 1};
  const auto to_java = quickest(soon, [&] {
    hold mine = seats.acquire();
    java().send("a", of("lock permits", "1"));
    EXPECT_TRUE(nodes(2, "/leases"));  // Curator's waiter counts itself
    EXPECT_FALSE(java().has_answered("a", 50ms));
    const auto taken = time_of([&] {
      mine.release();
      EXPECT_EQ(java().answer("a"), "ok");
    });
    EXPECT_FALSE(seats.try_acquire());
    EXPECT_EQ(java().ask("a", of("unlock permits", "1")), "ok");
    return taken;
  });
  EXPECT_LT(to_java, soon);
  const auto to_afar = quickest(soon, [&] {
    EXPECT_EQ(java().ask("a", of("lock permits", "1")), "ok");
    const auto before = locks.stats().waited;
    auto waiter = start([&] { return seats.try_acquire_for(long_time).valid(); });
    EXPECT_TRUE(has_waited(locks, before + 1));
    hold_still(50ms);  // it asks once more when it listens
    return time_of([&] {
      EXPECT_EQ(java().ask("a", of("unlock permits", "1")), "ok");
      EXPECT_TRUE(waiter.get());
    });
  });
  EXPECT_LT(to_afar, soon);
}

TEST_P(curator_permits, of_the_dead_come_back) {
  auto victim = start_afar();
  ASSERT_NE(victim->ask("a", "lock permits " + name), "0");
  victim->kill();
  EXPECT_LT(time_of([&] { EXPECT_EQ(java().ask("a", of("lock permits", "1")), "ok"); }),
            after_session);
  kill_java();
  leased_semaphore seats{locks, name, 1};
  EXPECT_LT(time_of([&] { EXPECT_TRUE(seats.try_acquire_for(long_time)); }), after_session);
}

AFAR_FOR_BOTH_CURATORS(curator_permits);

// ---- counts ---------------------------------------------------------------------------------------

class curator_counts : public curator_test {};

TEST_P(curator_counts, of_8_bytes_are_one_DistributedAtomicLong) {
  counter total{locks, name};
  total.store(-40);
  EXPECT_EQ(java().ask("a", of("get long")), "-40");
  EXPECT_EQ(java().ask("a", of("add long", "42")), "2");
  EXPECT_EQ(total.fetch_add(1), 2);
  const counter theirs{locks, name + ".java"};
  EXPECT_EQ(java().ask("a", "add long " + path(".java") + " 7"), "7");
  EXPECT_EQ(theirs.load(), 7);
}

TEST_P(curator_counts, of_4_bytes_are_one_DistributedAtomicInteger_and_SharedCount) {
  const client narrow{url("&width=4")};
  counter total{narrow, name};
  total.store(-40);
  EXPECT_EQ(java().ask("a", of("get int")), "-40");
  EXPECT_EQ(java().ask("a", of("add int", "42")), "2");
  EXPECT_EQ(total.fetch_add(1), 2);
  EXPECT_EQ(java().ask("a", of("get count")), "3");
  EXPECT_EQ(java().ask("a", of("set count", "-9")), "true");
  EXPECT_EQ(total.load(), -9);
}

TEST_P(curator_counts, lose_nothing_when_both_add_at_once) {
  constexpr int each = 100;
  for (int i = 0; i < each; ++i) java().send("a", of("add long", "1"));
  counter total{locks, name};
  for (int i = 0; i < each; ++i) total.fetch_add(1);
  for (int i = 0; i < each; ++i) {
    const std::string got = java().answer("a");
    EXPECT_FALSE(got.starts_with("error")) << got;
  }
  EXPECT_EQ(total.load(), 2 * each);
}

// The answer to a change is lost together with the connection.
TEST_P(curator_counts, count_once_with_afar_where_curator_counts_twice) {
  zookeeper_proxy proxy{server->port()};
  {
    const client through{proxy.url() + "/test?session=6s"};
    counter mine{through, name};
    mine.store(0);
    proxy.strike(zookeeper_proxy::loses::answer, zk_op::multi, name);
    EXPECT_EQ(mine.fetch_add(1), 0);
    EXPECT_TRUE(proxy.struck());
    EXPECT_EQ(counter(locks, name).load(), 1);
  }
  const std::string theirs = path(".java");
  auto through = start_java(GetParam(), proxy.url().substr(std::string{"zookeeper://"}.size()));
  ASSERT_EQ(through->ask("a", "add long " + theirs + " 1"), "1");
  proxy.strike(zookeeper_proxy::loses::answer, zk_op::set, name);
  EXPECT_EQ(through->ask("a", "add long " + theirs + " 1"), "3") << "Curator has learned it";
  EXPECT_TRUE(proxy.struck());
}

AFAR_FOR_BOTH_CURATORS(curator_counts);

// ---- leaders --------------------------------------------------------------------------------------

class curator_leaders : public curator_test {
 protected:
  // Leadership goes from Java to afar and back, by will and by death.
  void change_hands(const std::string& recipe, const client& c) {
    ASSERT_EQ(java().ask("a", of("start " + recipe)), "ok");
    ASSERT_EQ(java().ask("a", of("await " + recipe)), "ok");
    election mine{c, name};
    EXPECT_FALSE(mine.try_campaign_for(50ms));
    auto candidate = start([&] { return mine.try_campaign_for(long_time, "afar"); });
    ASSERT_TRUE(nodes(2));
    EXPECT_LT(time_of([&] {
                EXPECT_EQ(java().ask("a", of("close " + recipe)), "ok");
                EXPECT_TRUE(candidate.valid());
                candidate.wait();
              }),
              peer_session);
    hold reign = candidate.get();
    ASSERT_TRUE(reign);
    ASSERT_TRUE(mine.current());
    EXPECT_EQ(mine.current()->value, "afar");

    ASSERT_EQ(java().ask("b", of("start " + recipe)), "ok");
    java().send("b", of("await " + recipe));
    ASSERT_TRUE(nodes(2));
    EXPECT_FALSE(java().has_answered("b", 50ms));
    mine.resign(reign);
    EXPECT_EQ(java().answer("b"), "ok");
    EXPECT_EQ(java().ask("b", of("leads " + recipe)), "true");
    const auto seen = mine.current();
    ASSERT_TRUE(seen);
    EXPECT_GT(seen->term, 0U);
    kill_java();
    EXPECT_LT(time_of([&] { EXPECT_TRUE(mine.try_campaign_for(long_time)); }), after_session);
  }
};

TEST_P(curator_leaders, of_a_LeaderLatch_are_one) { change_hands("latch", locks); }

TEST_P(curator_leaders, of_a_LeaderSelector_are_one) {
  change_hands("selector", client{url("&layout=leader-selector")});
}

TEST_P(curator_leaders, of_afar_that_died_are_followed_by_java) {
  auto victim = start_afar();
  ASSERT_NE(victim->ask("a", "lock leader " + name), "0");
  ASSERT_EQ(java().ask("a", of("start latch")), "ok");
  ASSERT_TRUE(nodes(2));
  EXPECT_EQ(java().ask("a", of("leads latch")), "false");
  victim->kill();
  EXPECT_LT(time_of([&] { EXPECT_EQ(java().ask("a", of("await latch")), "ok"); }), after_session);
}

AFAR_FOR_BOTH_CURATORS(curator_leaders);

// ---- barriers -------------------------------------------------------------------------------------

class curator_barriers : public curator_test {
 protected:
  barrier both{locks, name, 2};
};

TEST_P(curator_barriers, let_both_through_when_java_came_last) {
  for (int round = 0; round < 3; ++round) {
    auto mine = start([&] { return both.arrive_and_wait_for(long_time); });
    ASSERT_TRUE(nodes(1));
    EXPECT_EQ(mine.wait_for(50ms), std::future_status::timeout);
    EXPECT_EQ(java().ask("a", of("enter barrier", "2")), "ok");
    EXPECT_TRUE(mine.get());
    EXPECT_EQ(java().ask("a", of("leave barrier", "2")), "ok");
    EXPECT_TRUE(nodes(0)) << "nothing is left of a round";
  }
}

TEST_P(curator_barriers, let_both_through_when_afar_came_last) {
  for (int round = 0; round < 3; ++round) {
    java().send("a", of("enter barrier", "2"));
    ASSERT_TRUE(nodes(1));
    EXPECT_FALSE(java().has_answered("a", 50ms));
    EXPECT_TRUE(both.arrive_and_wait_for(long_time));
    EXPECT_EQ(java().answer("a"), "ok");
    EXPECT_EQ(java().ask("a", of("leave barrier", "2")), "ok");
    EXPECT_TRUE(nodes(0)) << "nothing is left of a round";
  }
}

TEST_P(curator_barriers, are_broken_for_afar_when_java_dies) {
  java().send("a", of("enter barrier", "3"));
  ASSERT_TRUE(nodes(1));
  barrier three{locks, name, 3};
  auto mine = start([&] {
    std::error_code ec;
    three.arrive_and_wait_for(long_time, ec);
    return ec;
  });
  ASSERT_TRUE(nodes(2));
  kill_java();
  EXPECT_EQ(mine.get(), errc::broken);
}

AFAR_FOR_BOTH_CURATORS(curator_barriers);

}  // namespace
}  // namespace afar::test
