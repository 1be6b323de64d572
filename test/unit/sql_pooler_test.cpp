// PgBouncer in transaction mode: every transaction may get another session. What depends on a session
// (advisory locks, LISTEN, prepared statements) leaks there or ends in another's hands (P-1: authentik
// #23876), so afar must not use any.
#include "sql_fixture.hpp"
#include "support/pooler.hpp"
#include "support/threads.hpp"

#include <algorithm>
#include <atomic>
#include <future>

namespace afar::test {
namespace {

class sql_pooler : public ::testing::Test {
 protected:
  sql_server server{database::postgresql};
  const pooler before{server.port(), 2};
  const std::string url = server.scheme() + "://" + server.address(before.port());
  const std::unique_ptr<session> look = open_session(server);
  const std::string name = fresh_name();
};

TEST_F(sql_pooler, lets_one_hold_at_a_time) {
  constexpr int clients = 6;
  constexpr int rounds = 15;
  const client first{url};  // makes the tables
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<std::uint64_t> last{0};
  std::atomic<int> went_back{0};
  in_parallel(clients, [&](int) {
    client mine = open_client(url + "?connections=1");
    mutex m{mine, name};
    for (int i = 0; i < rounds; ++i) {
      const hold held = m.acquire();
      if (inside.fetch_add(1) != 0) ++overlaps;
      if (last.exchange(held.token()) >= held.token()) ++went_back;
      inside.fetch_sub(1);
    }
  });
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(went_back, 0);
}

TEST_F(sql_pooler, leaves_nothing_in_a_session) {
  client one = open_client(url);
  client two = open_client(url);
  hold held = mutex(one, name).acquire();
  auto waits = std::async(std::launch::async, [&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));
  EXPECT_EQ(first_field(*look, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0");
  held.release();
  EXPECT_TRUE(waits.get());
  EXPECT_EQ(first_field(*look, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0");
  EXPECT_EQ(first_field(*look, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"),
            "0");
}

TEST_F(sql_pooler, is_shared_with_clients_that_connect_to_the_server) {
  client pooled = open_client(url);
  client straight = open_client(server.url());
  hold held = mutex(straight, name).acquire();
  EXPECT_FALSE(mutex(pooled, name).try_acquire());
  auto waits = std::async(std::launch::async, [&] { return mutex(pooled, name).acquire(); });
  ASSERT_TRUE(has_waited(pooled));
  const auto token = held.token();
  held.release();
  hold next = waits.get();
  EXPECT_GT(next.token(), token);
  EXPECT_FALSE(mutex(straight, name).try_acquire());
  next.release();
  EXPECT_TRUE(mutex(straight, name).try_acquire());
}

TEST_F(sql_pooler, is_what_examine_says_of_it) {
  const client c{url};
  const auto all = examine(c);
  const auto bell = std::ranges::find(all, "bell", &finding::topic);
  ASSERT_NE(bell, all.end());
  EXPECT_EQ(bell->how, finding::grade::warning);
  EXPECT_NE(bell->text.find("pooler"), std::string::npos) << bell->text;
}

}  // namespace
}  // namespace afar::test
