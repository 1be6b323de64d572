// A claim that waits in a database is made the holder by whoever releases (rule 5 of
// engines/records/claims.hpp), and told. What if it cannot hear it, does not want it any more, or has
// died? Each test runs on MariaDB and PostgreSQL.
#include "sql_fixture.hpp"
#include "torture/fault_proxy.hpp"

#include "engines/sql/row.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>

namespace afar::test {
namespace {

class sql_grants : public sql_test {
 protected:
  std::string through_proxy() const {
    return server.scheme() + "://" + server.address(proxy.port());
  }

  engines::sql::row row() const { return engines::sql::load(*table, name); }
  // The columns show the holder, as anybody who reads the table sees it.
  bool somebody_holds_after(std::uint64_t token) {
    return eventually([&] {
      const auto seen = row();
      return !seen.owner.empty() && seen.token > static_cast<std::int64_t>(token);
    });
  }

  // The session of a waiter's bell; empty: nobody has one.
  std::string bell() const {
    return first_field(*table,
                       maria() ? "SELECT id FROM information_schema.processlist WHERE info LIKE "
                                 "'SELECT SLEEP(%afar bell%' AND id <> connection_id()"
                               : "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %'");
  }

  sql_server server{GetParam()};
  torture::fault_proxy proxy{server.port()};
  client straight = open_client(server.url());
  const std::unique_ptr<session> table = open_session(server);
};

TEST_P(sql_grants, are_heard_without_asking_again) {
  client waits = open_client(server.url());
  mutex mine{straight, name};
  mutex theirs{waits, name};
  mine.acquire().release();
  // The first wait connects the bell, and looks again when that is done.
  const auto hand_on = [&] {
    hold held = mine.acquire();
    const auto before = waits.stats().waited;
    auto next = std::async(std::launch::async, [&] { return theirs.acquire(); });
    EXPECT_TRUE(has_waited(waits, before + 1));
    hold_still(100ms);
    const auto asked = waits.stats().steps;
    held.release();
    const hold got = next.get();
    EXPECT_GT(got.token(), held.token());
    EXPECT_TRUE(got.valid());
    return waits.stats().steps == asked;
  };
  EXPECT_TRUE(eventually(hand_on, 60s)) << "it asks before it holds, each time";
}

TEST_P(sql_grants, become_a_whole_lease) {
  client waits = open_client(server.url(), {.lease = 60s});
  hold held = mutex(straight, name).acquire();
  auto next = std::async(std::launch::async, [&] { return mutex(waits, name).acquire(); });
  ASSERT_TRUE(has_waited(waits));
  held.release();
  const hold got = next.get();
  EXPECT_TRUE(eventually([&] {
    const auto seen = row();
    return seen.until_us - seen.now_us > 50'000'000;
  })) << "nobody renews it";
  EXPECT_TRUE(got.valid());
}

// Nothing connects it to the server any more.
TEST_P(sql_grants, of_a_waiter_that_died_are_over_soon) {
  auto cable = std::make_unique<torture::fault_proxy>(server.port());
  hold held = mutex(straight, name).acquire();
  client dies =
      open_client(server.scheme() + "://" + server.address(cable->port()), {.lease = 60s});
  std::stop_source enough;
  auto never = std::async(std::launch::async,
                          [&] { return mutex(dies, name).acquire({.stop = enough.get_token()}); });
  ASSERT_TRUE(has_waited(dies));
  cable.reset();
  const std::uint64_t first = held.token();
  held.release();
  ASSERT_TRUE(somebody_holds_after(first)) << "it was not granted";
  const auto dead = static_cast<std::uint64_t>(row().token);
  const hold next = mutex(straight, name).try_acquire_for(long_time);
  ASSERT_TRUE(next);
  EXPECT_GT(next.token(), dead);
  EXPECT_LT(row().since_us - static_cast<std::int64_t>(dead), 30'000'000)
      << "a whole lease for a claim that nobody has confirmed";
  enough.request_stop();
  EXPECT_THROW(never.get(), lock_error);
  EXPECT_TRUE(next.valid());
}

// It cannot hear that it was granted, gives up, and is heard of again.
TEST_P(sql_grants, of_a_waiter_that_has_given_up_are_given_back) {
  const auto gives_up = [&] {
    hold held = mutex(straight, name).acquire();
    client waits = open_client(through_proxy(), {.lease = 60s});
    std::stop_source enough;
    auto late = std::async(std::launch::async, [&] {
      return mutex(waits, name).acquire({.stop = enough.get_token()});
    });
    EXPECT_TRUE(has_waited(waits));
    EXPECT_TRUE(eventually([&] { return !bell().empty(); }));
    proxy.hold(torture::way::to_client);
    const std::uint64_t first = held.token();
    held.release();
    EXPECT_TRUE(somebody_holds_after(first)) << "it was not granted";
    const auto unheard = row().token;
    enough.request_stop();
    try {
      late.get();
    } catch (const lock_error&) {
      proxy.heal();
      EXPECT_TRUE(eventually([&] { return row().owner.empty(); }))
          << "nobody has given it back; its lease may be over, but that is all";
      EXPECT_EQ(row().token, unheard);
      EXPECT_TRUE(mutex(straight, name).try_acquire());
      return true;
    }
    proxy.heal();  // a slow machine: it has made another connection, and asked
    return false;
  };
  bool done = false;
  for (int i = 0; i < 5 && !done; ++i) done = gives_up();
  EXPECT_TRUE(done) << "it always knew";
}

TEST_P(sql_grants, that_nobody_told_of_are_found) {
  hold held = mutex(straight, name).acquire();
  client waits = open_client(server.url());
  auto next = std::async(std::launch::async, [&] { return mutex(waits, name).acquire(); });
  ASSERT_TRUE(has_waited(waits));
  std::string broken;
  ASSERT_TRUE(eventually([&] { return !(broken = bell()).empty(); }));
  // Whoever releases still finds that bell in the waiter's place.
  table->run(maria() ? "KILL " + broken : "SELECT pg_terminate_backend(" + broken + ")");
  held.release();
  EXPECT_TRUE(next.get().valid());
}

TEST_P(sql_grants, are_found_where_there_are_no_bells) {
  hold held = mutex(straight, name).acquire();
  client waits = open_client(server.url() + "?bell=off");
  auto next = std::async(std::launch::async, [&] { return mutex(waits, name).acquire(); });
  ASSERT_TRUE(has_waited(waits));
  held.release();
  EXPECT_TRUE(next.get().valid());
}

AFAR_FOR_EVERY_DATABASE(sql_grants);

}  // namespace
}  // namespace afar::test
