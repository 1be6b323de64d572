// kill -9 of those who use a database: a holder's name is free when its lease is over and not before, a
// waiter's place when its own is, and nobody behind either of them waits for longer.
#include "actor.hpp"
#include "support/engines.hpp"
#include "support/patience.hpp"
#include "support/sql_server.hpp"

#include <afar/mutex.hpp>
#include <afar/survey.hpp>

#include <gtest/gtest.h>

#include <string>

namespace afar::test {
namespace {

class sql_crash : public ::testing::TestWithParam<database> {
 protected:
  static constexpr milliseconds lease = slowness * 1'500ms;
  std::string url() const {
    return server.url() + "?handoff=0&lease=" + std::to_string(lease.count()) + "ms";
  }
  std::size_t waiters() const {
    const auto seen = inspect(locks, name);
    return seen ? seen->waiters.size() : 0;
  }

  sql_server server{GetParam()};
  client locks{server.url(), {.handoff = 0}};
  const std::string name = fresh_name();
};

TEST_P(sql_crash, of_a_holder_frees_what_it_held_when_its_lease_is_over) {
  actor doomed{url()};
  const grant first = doomed.acquire("mutex", name);
  ASSERT_TRUE(first) << first.message;
  doomed.kill();
  const hold next = mutex(locks, name).try_acquire_for(long_time);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), first.token);
  EXPECT_GE(stamp(), first.valid_until) << "before its lease was over";
  EXPECT_LT(nanoseconds{stamp() - doomed.death()}, lease + slowness * 3s);
}

TEST_P(sql_crash, of_a_waiter_holds_up_nobody_behind_it) {
  hold held = mutex(locks, name).acquire();
  actor doomed{url()};
  doomed.send_acquire("mutex", name);
  ASSERT_TRUE(eventually([&] { return waiters() == 1; }));
  actor behind{url()};
  behind.send_acquire("mutex", name);
  ASSERT_TRUE(eventually([&] { return waiters() == 2; }));
  doomed.kill();
  held.release();
  const auto released = stamp();
  const grant next = behind.receive_grant();
  ASSERT_TRUE(next) << next.message;
  EXPECT_LT(nanoseconds{next.at - released}, slowness * 5s) << "the dead one's turn, for long";
  EXPECT_TRUE(eventually([&] { return waiters() == 0; }, 10s)) << "its place is still there";
}

TEST_P(sql_crash, that_only_stops_a_holder_lets_it_know_when_it_goes_on) {
  actor stopped{url()};
  const grant first = stopped.acquire("mutex", name);
  ASSERT_TRUE(first) << first.message;
  stopped.stop();
  const hold next = mutex(locks, name).try_acquire_for(long_time);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), first.token);
  stopped.resume();
  EXPECT_EQ(stopped.ask("valid"), "0") << "it believes that it holds it";
  EXPECT_TRUE(next.valid());
  EXPECT_EQ(inspect(locks, name)->holders.at(0).token, next.token());
}

INSTANTIATE_TEST_SUITE_P(, sql_crash, ::testing::Values(database::mariadb, database::postgresql),
                         [](const auto& of) {
                           return of.param == database::mariadb ? "mariadb" : "postgresql";
                         });

}  // namespace
}  // namespace afar::test
