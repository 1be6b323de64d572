// What happens to databases and to the connections to them. Each test runs on MariaDB and PostgreSQL.
#include "sql_fixture.hpp"
#include "torture/fault_proxy.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>

namespace afar::test {
namespace {

class sql_faults : public sql_test {
 protected:
  std::string through_proxy() const {
    return server.scheme() + "://" + server.address(proxy.port());
  }

  // From now on answers do not arrive, and then never will.
  void lose_answers() { proxy.hold(torture::way::to_client); }
  void cut() {
    proxy.reset();
    proxy.heal();
  }

  sql_server server{GetParam()};
  torture::fault_proxy proxy{server.port()};
  client straight = open_client(server.url());
};

TEST_P(sql_faults, an_acquire_whose_answer_is_lost_grants_once) {
  client through = open_client(through_proxy());
  mutex(through, name + "/first").acquire().release();  // now its statements are prepared
  mutex m{through, name};
  lose_answers();
  auto waits = std::async(std::launch::async, [&] { return m.acquire(); });
  std::uint64_t granted = 0;
  ASSERT_TRUE(eventually([&] {
    const auto seen = inspect(straight, name);
    granted = seen && !seen->holders.empty() ? seen->holders[0].token : 0;
    return granted != 0;
  })) << "the server has not done it";
  cut();
  hold held = waits.get();
  EXPECT_EQ(held.token(), granted) << "the repetition has made another token";
  const auto seen = inspect(straight, name);
  EXPECT_EQ(seen->holders.size(), 1U);
  EXPECT_TRUE(seen->waiters.empty()) << "it stands in line behind itself";
  held.release();
  EXPECT_TRUE(mutex(straight, name).try_acquire());
}

TEST_P(sql_faults, a_release_whose_answer_is_lost_releases_once) {
  client through = open_client(through_proxy());
  mutex(through, name + "/first").acquire().release();  // now its statements are prepared
  hold held = mutex(through, name).acquire();
  lose_answers();
  auto released = std::async(std::launch::async, [&] { held.release(); });
  mutex other{straight, name};
  hold next = other.try_acquire_for(long_time);
  ASSERT_TRUE(next);
  cut();
  released.get();
  EXPECT_TRUE(next.valid());
  EXPECT_EQ(inspect(straight, name)->holders.at(0).token, next.token()) << "another's was released";
}

// Now and then the janitor asks something in between, and the answer that is held is not the one that is meant:
// then the change is not made before the cut, and it is tried again.
TEST_P(sql_faults, a_change_whose_answer_is_lost_counts_once) {
  client through = open_client(through_proxy());
  counter c{through, name};
  counter same{straight, name};
  bool was_lost = false;
  for (int attempts = 0; attempts < 3 && !was_lost; ++attempts) {
    c.fetch_add(1);  // inserts its row
    c.fetch_sub(1);
    c.fetch_add(1);              // all that it says is prepared by now
    proxy.hold_answers_from(2);  // the first one reads the row
    const auto before = same.load();
    auto added = std::async(std::launch::async, [&] { return c.fetch_add(1); });
    was_lost = eventually([&] { return same.load() == before + 1; }, 3s);
    cut();
    EXPECT_EQ(added.get(), before) << "the result was not remembered";
    EXPECT_EQ(same.load(), before + 1);
  }
  EXPECT_TRUE(was_lost);
}

// An order takes several statements; the connection ends at any of them.
TEST_P(sql_faults, orders_and_counts_over_connections_that_break_happen_once) {
  constexpr int orders = 60;
  client through = open_client(through_proxy(),
                               {.patience = std::chrono::duration_cast<milliseconds>(long_time)});
  stock s{through, name};
  counter c{through, name + "/n"};
  s.set(orders + 10);
  std::atomic<int> done{0};
  std::jthread cutter{[&](const std::stop_token& over) {
    for (int i = 1; !over.stop_requested(); ++i) {
      const int before = done;
      hold_still(std::chrono::microseconds{30'000 + i * 7'919 % 100'000});
      proxy.reset();
      // A busy machine may need longer to connect than there is between two cuts.
      eventually([&] { return done != before || over.stop_requested(); }, long_time);
    }
  }};
  for (int i = 0; i < orders; ++i) {
    EXPECT_EQ(s.take(1, "order/" + std::to_string(i), "buyer"), take_result::taken);
    EXPECT_EQ(c.fetch_add(1), i);
    ++done;
  }
  cutter.request_stop();
  cutter.join();
  stock same{straight, name};
  EXPECT_EQ(same.levels()->remaining, 10);
  EXPECT_EQ(same.levels()->taken, orders);
  EXPECT_EQ(counter(straight, name + "/n").load(), orders);
}

TEST_P(sql_faults, a_killed_server_keeps_rows_and_tokens) {
  hold held = mutex(straight, name).acquire();
  const std::uint64_t token = held.token();
  counter(straight, name + "/n").fetch_add(41);
  server.stop();
  server.start();
  client later = open_client(server.url());
  EXPECT_FALSE(mutex(later, name).try_acquire()) << "the server has forgotten what is held";
  EXPECT_EQ(counter(later, name + "/n").fetch_add(1), 41);
  EXPECT_TRUE(held.valid());
  held.release();
  EXPECT_GT(mutex(later, name).acquire().token(), token);
}

TEST_P(sql_faults, a_stopped_server_holds_up_no_caller) {
  client holder = open_client(server.url(), {.lease = renewed_lease});
  hold held = mutex(holder, name).acquire();
  mutex other{straight, name + "/other"};
  server.suspend();
  const auto start = boot_clock::now();
  EXPECT_FALSE(other.try_lock_for(300ms));
  EXPECT_LT(boot_clock::now() - start, 300ms + slowness * 1s);
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }, 5s + renewed_lease));
  EXPECT_EQ(held.why(), loss_reason::unreachable);
  server.resume();
  EXPECT_TRUE(other.try_lock_for(long_time)) << "it does not go on";
  other.unlock();
}

// The caller has given up, and the release that follows may run before what the server finds in its
// sockets when it goes on.
TEST_P(sql_faults, an_acquire_that_was_given_up_on_a_stopped_server_is_not_carried_out_later) {
  mutex other{straight, name};
  other.acquire().release();  // so that its statements are prepared; awaited, unlike unlock()
  const auto look = open_session(server);
  server.suspend();
  const auto start = boot_clock::now();
  EXPECT_FALSE(other.try_lock_for(100ms));
  ASSERT_TRUE(eventually([&] { return boot_clock::now() - start > 3s; }));
  server.resume();
  const std::string held = "SELECT count(*) FROM afar_names WHERE owner IS NOT NULL";
  const auto later = boot_clock::now() + 1s;
  int seen = 0;
  while (boot_clock::now() < later) seen += first_field(*look, held) != "0" ? 1 : 0;
  EXPECT_EQ(seen, 0) << "held by nobody, for a whole lease";
  EXPECT_TRUE(mutex(open_client(server.url()), name).try_acquire());
}

// Somebody's transaction has locked the row for longer than the server lets us wait for it.
TEST_P(sql_faults, lock_waits_surface_nowhere) {
  mutex m{straight, name};
  m.acquire().release();
  const auto admin = open_session(server);
  admin->run("BEGIN");
  admin->run("SELECT 1 FROM afar_names FOR UPDATE");
  const auto start = boot_clock::now();
  EXPECT_FALSE(m.try_lock_for(200ms));
  EXPECT_LT(boot_clock::now() - start, 200ms + slowness * 1s);
  client other = open_client(server.url());
  auto waits = std::async(std::launch::async, [&] { return mutex(other, name).acquire(); });
  ASSERT_TRUE(eventually([&] {
    admin->run("SELECT 1");  // a transaction that is idle would be ended
    return boot_clock::now() - start > 3s;
  }));
  EXPECT_EQ(waits.wait_for(0s), std::future_status::timeout);
  admin->run("COMMIT");
  EXPECT_TRUE(waits.get());
}

TEST_P(sql_faults, a_cut_connection_loses_no_hold_and_no_waiter) {
  client through = open_client(through_proxy());
  hold held = mutex(straight, name).acquire();
  mutex m{through, name};
  auto waits = std::async(std::launch::async, [&] { return m.acquire(); });
  ASSERT_TRUE(has_waited(through));
  proxy.reset();
  held.release();
  EXPECT_TRUE(waits.get().valid());
}

TEST_P(sql_faults, a_read_only_server_is_refused) {
  const std::string read_only =
      GetParam() == database::mariadb ? "--read-only" : "-cdefault_transaction_read_only=on";
  const sql_server standby{GetParam(), {read_only}};
  const auto opened = [&] { client c{standby.url()}; };
  EXPECT_EQ(thrown_by(opened), errc::unavailable);
  // The next one of the list is used.
  const std::string both = server.scheme() + "://" +
                           standby.address().substr(0, standby.address().find('/')) +
                           ",127.0.0.1:" + std::to_string(server.port()) +
                           server.address().substr(server.address().find('/'));
  client c{both};
  EXPECT_TRUE(mutex(c, name).try_lock());
}

TEST_P(sql_faults, a_wrong_database_is_denied) {
  const std::string url = server.scheme() + "://" +
                          server.address().substr(0, server.address().find('/')) +
                          "/no_such_database";
  const auto opened = [&] { client c{url}; };
  EXPECT_EQ(thrown_by(opened), errc::denied);
}

AFAR_FOR_EVERY_DATABASE(sql_faults);

}  // namespace
}  // namespace afar::test
