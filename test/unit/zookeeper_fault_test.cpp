// What happens to claims and cells when a connection breaks at any step, when a session expires, and
// when a server stands still.
#include "zookeeper_fixture.hpp"

#include <atomic>

namespace afar::test {
namespace {

using loses = zookeeper_proxy::loses;

class zookeeper_faults : public zookeeper_test {
 protected:
  // The session expires at the server while the client is cut off.
  void expire() {
    proxy.cut();
    proxy.end_session();
    proxy.mend();
  }
};

TEST_F(zookeeper_faults, an_expired_session_loses_its_holds_and_the_client_goes_on) {
  mutex m{through, name};
  const hold first = m.acquire();
  expire();
  EXPECT_TRUE(eventually([&] { return first.lost().stop_requested(); }, 10s));
  EXPECT_EQ(first.why(), loss_reason::session);
  EXPECT_FALSE(first.valid());
  hold theirs = mutex(other, name).try_acquire_for(long_time);
  ASSERT_TRUE(theirs);
  EXPECT_GT(theirs.token(), first.token());
  theirs.release();
  EXPECT_TRUE(mutex(through, name + "2").try_acquire_for(long_time)) << "with a new session";
}

// E-1 (etcd #11456), CURATOR-604: a waiter whose session expired is not granted by its old node.
TEST_F(zookeeper_faults, E_1_a_waiter_is_not_granted_on_a_dead_session) {
  hold theirs = mutex(other, name).acquire();
  auto waiter = start([&] { return mutex(through, name).acquire(); });
  ASSERT_TRUE(has_waited(through));
  expire();
  ASSERT_TRUE(eventually([&] { return nodes().size() == 2 && has_waited(through); }, 20s));
  EXPECT_EQ(waiter.wait_for(100ms), std::future_status::timeout);
  theirs.release();
  hold mine = waiter.get();
  EXPECT_TRUE(mine.valid());
  EXPECT_EQ(nodes().size(), 1U) << "its old place is gone";
}

// With the session of a member goes its node, and with it what others wrote there. It cannot know.
TEST_F(zookeeper_faults, a_member_whose_session_ended_is_not_told_that_its_full_barrier_is_broken) {
  auto cut_off = start([&] {
    std::error_code ec;
    barrier{through, name, 2}.arrive_and_wait({}, ec);
    return ec;
  });
  ASSERT_TRUE(has_waited(through));
  proxy.cut();
  EXPECT_TRUE(barrier(other, name, 2).arrive_and_wait_for(long_time)) << "all have come";
  proxy.end_session();
  proxy.mend();
  EXPECT_EQ(cut_off.get(), errc::lost);
  EXPECT_TRUE(eventually([&] { return nodes().empty(); }));
}

// CURATOR-604, CURATOR-206: what was held before is not held again because the client is back.
TEST_F(zookeeper_faults, CURATOR_604_a_hold_does_not_come_back_with_a_new_session) {
  const hold mine = mutex(through, name).acquire();
  expire();
  hold theirs = mutex(other, name).try_acquire_for(long_time);
  ASSERT_TRUE(theirs);
  EXPECT_TRUE(eventually([&] { return !mine.valid(); }, 10s));
  EXPECT_FALSE(mutex(through, name).try_acquire());
}

// Z-6 (ZooKeeper's FAQ): the create happened, its answer was lost. The node is found again.
struct cut_at {
  loses what;
  zk_op op;
};
class zookeeper_cuts : public zookeeper_faults, public ::testing::WithParamInterface<cut_at> {};

TEST_P(zookeeper_cuts, Z_6_acquire_and_release_leave_one_node_and_then_none) {
  proxy.strike(GetParam().what, GetParam().op, name);
  hold mine = mutex(through, name).acquire();
  EXPECT_TRUE(proxy.struck() || GetParam().op == zk_op::remove);
  EXPECT_EQ(nodes().size(), 1U);
  EXPECT_TRUE(mine.valid());
  std::error_code ec;
  mine.release(ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_TRUE(proxy.struck());
  EXPECT_TRUE(nodes().empty());
}

TEST_P(zookeeper_cuts, leave_nothing_of_a_refused_try) {
  const hold theirs = mutex(other, name).acquire();
  proxy.strike(GetParam().what, GetParam().op, name);
  EXPECT_FALSE(mutex(through, name).try_acquire());
  EXPECT_TRUE(eventually([&] { return nodes().size() == 1; }));
}

TEST_P(zookeeper_cuts, leave_no_place_in_line_of_one_that_gave_up) {
  const hold theirs = mutex(other, name).acquire();
  proxy.strike(GetParam().what, GetParam().op, name);
  std::error_code ec;  // set if the connection is not back by then
  EXPECT_FALSE(mutex(through, name).try_acquire_for(50ms, {}, ec));
  EXPECT_TRUE(eventually([&] { return nodes().size() == 1; }, 20s));
}

INSTANTIATE_TEST_SUITE_P(
    each_step, zookeeper_cuts,
    ::testing::Values(cut_at{loses::request, zk_op::create}, cut_at{loses::answer, zk_op::create},
                      cut_at{loses::request, zk_op::children},
                      cut_at{loses::answer, zk_op::children}, cut_at{loses::request, zk_op::remove},
                      cut_at{loses::answer, zk_op::remove}),
    [](const auto& of) {
      return std::string{of.param.what == loses::request ? "request_" : "answer_"} +
             (of.param.op == zk_op::create     ? "create"
              : of.param.op == zk_op::children ? "list"
                                               : "remove");
    });

TEST_F(zookeeper_faults, a_waiter_whose_watch_was_lost_is_woken_all_the_same) {
  for (const loses what : {loses::request, loses::answer}) {
    hold theirs = mutex(other, name).acquire();
    proxy.strike(what, zk_op::get, name);
    auto waiter = start([&] { return mutex(through, name).acquire(); });
    ASSERT_TRUE(eventually([&] { return proxy.struck(); }));
    theirs.release();
    hold mine = waiter.get();
    EXPECT_TRUE(mine.valid());
    EXPECT_EQ(nodes().size(), 1U);
    mine.release();
  }
}

// It was taken for set, so that nobody set it again: who waited found out by itself, every second.
TEST_F(zookeeper_faults, a_watch_that_was_lost_is_set_again_when_the_connection_is_back) {
  const auto woken_in = [&](zk_op set_by, const std::string& where, int nth, auto& lock,
                            auto& of_others) {
    return quickest(400ms, [&] {
      hold theirs = of_others.acquire();
      proxy.strike(loses::request, set_by, where, nth);
      auto waiter = start([&] { return lock.acquire(); });
      EXPECT_TRUE(eventually([&] { return proxy.struck(); }));
      counter{through, name + "back"}.load();
      hold_still(100ms);  // it has looked, and sleeps
      return time_of([&] {
        theirs.release();
        waiter.get().release();
      });
    });
  };
  mutex mine{through, name};
  mutex theirs{other, name};
  EXPECT_LT(woken_in(zk_op::get, name, 1, mine, theirs), 400ms);
  // Before it is watched it is looked at.
  leased_semaphore some{through, name + "some", 1};
  leased_semaphore others{other, name + "some", 1};
  EXPECT_LT(woken_in(zk_op::children, name + "some/leases", 2, some, others), 400ms);
}

// CURATOR-678: a release without a connection goes on in the background.
TEST_F(zookeeper_faults, CURATOR_678_a_release_under_connection_loss_leaves_no_orphan) {
  mutex m{through, name};
  m.lock();
  ASSERT_EQ(nodes().size(), 1U);
  proxy.cut();
  m.unlock();
  EXPECT_EQ(nodes().size(), 1U);
  proxy.mend();
  EXPECT_TRUE(eventually([&] { return nodes().empty(); }, 5s)) << "before the session is over";
  EXPECT_TRUE(mutex(other, name).try_acquire());
}

// It is removed when its lease is over, and its release has nothing left to do: but the connection breaks
// before that removal has reached the server.
TEST_F(zookeeper_faults, a_hold_whose_lease_ended_while_the_connection_broke_leaves_no_orphan) {
  hold mine = mutex(through, name).acquire({.lease = 200ms, .renew = renewal::off});
  proxy.stall();
  ASSERT_TRUE(eventually([&] { return proxy.holds(name); })) << "its removal";
  EXPECT_FALSE(mine.valid());
  mine = {};
  proxy.cut();
  proxy.mend();
  EXPECT_TRUE(mutex(other, name).try_acquire_for(long_time));
  EXPECT_TRUE(eventually([&] { return nodes().empty(); }));
}

// Curator's DistributedAtomicLong counts twice here.
TEST_F(zookeeper_faults, a_change_whose_answer_was_lost_counts_once) {
  counter c{through, name};
  c.fetch_add(1);
  for (const loses what : {loses::answer, loses::request}) {
    const auto before = c.load();
    proxy.strike(what, zk_op::multi, name);
    EXPECT_EQ(c.fetch_add(5), before);
    EXPECT_TRUE(proxy.struck());
    EXPECT_EQ(counter(other, name).load(), before + 5);
  }
}

TEST_F(zookeeper_faults, a_change_whose_answer_was_lost_with_the_session_counts_once) {
  counter c{through, name};
  c.fetch_add(1);
  proxy.strike(loses::answer, zk_op::multi, name);
  auto changing = start([&] { return c.fetch_add(5); });
  ASSERT_TRUE(eventually([&] { return proxy.struck(); }));
  expire();
  EXPECT_EQ(changing.get(), 1);
  EXPECT_EQ(counter(other, name).load(), 6);
}

TEST_F(zookeeper_faults, permits_whose_answer_was_lost_are_taken_once) {
  leased_semaphore mine{through, name, 5};
  leased_semaphore theirs{other, name, 5};
  for (const loses what : {loses::answer, loses::request}) {
    proxy.strike(what, zk_op::multi, name);
    hold two = mine.acquire(2);
    EXPECT_TRUE(proxy.struck());
    hold three = theirs.try_acquire(3);
    EXPECT_TRUE(three);
    EXPECT_FALSE(theirs.try_acquire(1));
    two.release();
    three.release();
  }
  EXPECT_TRUE(theirs.try_acquire(5));
}

// The server removes empty folders: who waits keeps its place in line, and does not wait for itself.
TEST_F(zookeeper_faults, a_waiter_outlives_the_folder_of_the_permits) {
  using engines::zookeeper::ask::multi;
  using engines::zookeeper::ask::remove;
  const std::string leases = path("/leases");
  leased_semaphore mine{through, name, 1};
  leased_semaphore theirs{other, name, 1};
  const hold held = mine.acquire();
  auto waiter = start([&] { return theirs.try_acquire_for(long_time).valid(); });
  ASSERT_TRUE(eventually([&] { return raw.children(path("/locks")).size() == 1; }));
  ASSERT_TRUE(eventually([&] { return other.stats().waited == 1; }));
  const auto permits = raw.children(leases);
  ASSERT_EQ(permits.size(), 1U);
  ASSERT_TRUE(raw.ask(multi({remove(leases + '/' + permits[0]), remove(leases)})).ok());
  EXPECT_TRUE(waiter.get());
  EXPECT_TRUE(eventually([&] { return raw.children(path("/locks")).empty(); }));
}

// The answers come after the caller has given up: its place in line is known only then, and must not
// be turned into a permit any more, which nobody would give back while the session lives.
TEST_F(zookeeper_faults, permits_of_one_that_gave_up_before_the_first_answer_are_not_taken) {
  leased_semaphore mine{through, name, 1};
  mine.acquire().release();  // the folders
  proxy.stall();
  std::error_code ec;
  EXPECT_FALSE(mine.try_acquire_for(50ms, 1, {}, ec));
  proxy.mend();
  EXPECT_TRUE(leased_semaphore(other, name, 1).try_acquire_for(long_time));
  EXPECT_TRUE(eventually([&] { return raw.children(path("/locks")).empty(); }));
  EXPECT_TRUE(eventually([&] { return raw.children(path("/leases")).empty(); }));
}

TEST_F(zookeeper_faults, an_order_whose_answer_was_lost_is_taken_once) {
  stock shop{through, name};
  shop.set(10);
  shop.take(1, "first");
  proxy.strike(loses::answer, zk_op::multi, name);
  shop.take(3, "second");
  EXPECT_TRUE(proxy.struck());
  EXPECT_EQ(stock(other, name).remaining(), 6);
}

// The C client says nothing while it is cut off; its holds are over all the same.
// A server may sleep on an answer until something else is asked of it; here it just stands still.
TEST_F(zookeeper_faults, ZOOKEEPER_4537_who_gets_no_answer_asks_for_something_else) {
  counter at{through, name};
  at.store(7);
  proxy.strike(loses::request, zk_op::exists, "/");
  server().suspend();
  auto value = start([&] { return at.load(); });
  EXPECT_TRUE(eventually([&] { return proxy.struck(); }));
  server().resume();
  EXPECT_EQ(value.get(), 7);
}

// The same with a new session. Only another connection wakes the server here.
TEST_F(zookeeper_faults, ZOOKEEPER_4537_who_gets_no_session_opens_another_one) {
  zookeeper_proxy alone{server().port()};
  const client patient{alone.url() + "/test?session=30s", {.lease = 30s}};
  const hold first = mutex(patient, name).acquire();
  alone.cut();
  alone.end_session();
  alone.doze(2);  // the first one hears that the session is over
  alone.mend();
  EXPECT_TRUE(mutex(patient, name + "2").try_acquire_for(long_time));
}

TEST_F(zookeeper_faults, a_holder_is_told_before_its_session_ends_at_a_server_that_stands_still) {
  const hold mine = mutex(through, name).acquire();
  const auto granted = boot_clock::now();
  server().suspend();
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }, session));
  EXPECT_LT(boot_clock::now() - granted, session);
  EXPECT_EQ(mine.why(), loss_reason::unreachable);
  server().resume();
  EXPECT_TRUE(mutex(through, name + "2").try_acquire_for(long_time));
}

TEST_F(zookeeper_faults, waiters_go_on_when_the_server_is_back) {
  // Longer than a server takes to start on a busy machine.
  const client patient{server().url() + "/test?session=60s"};
  const client behind{proxy.url() + "/test?session=60s", {.patience = 60s}};
  hold theirs = mutex(patient, name).acquire();
  auto waiter = start([&] { return mutex(behind, name).acquire(); });
  ASSERT_TRUE(has_waited(behind));
  server().stop();
  server().start();
  EXPECT_TRUE(theirs.valid());
  theirs.release();
  EXPECT_TRUE(waiter.get().valid());
}

}  // namespace
}  // namespace afar::test
