// The helpers of <afar/sql.hpp>, on both databases: what they do, and the limits that they document.
#include "support/patience.hpp"
#include "support/sql_server.hpp"
#include "support/threads.hpp"

#include "engines/sql/dial.hpp"

#include <afar/afar.hpp>
#include <afar/sql.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace afar::test {
namespace {

using sql::if_locked;
using sql::row_lock;

class sql_rows : public ::testing::TestWithParam<database> {
 protected:
  using connection = engines::sql::connection;

  // One of each for all tests: nothing happens to them here.
  static const sql_server& server() {
    auto& one = servers[GetParam()];
    if (!one) one = std::make_unique<sql_server>(GetParam());
    return *one;
  }
  static void TearDownTestSuite() { servers.clear(); }

  static bool maria() { return GetParam() == database::mariadb; }
  static std::unique_ptr<connection> connect() {
    engines::sql::target to;
    to.product = maria() ? engines::sql::product::mysql : engines::sql::product::postgres;
    to.servers = {{"127.0.0.1", server().port()}};
    to.user = maria() ? "afar" : "postgres";
    to.password = spi::secret{"secret"};
    to.database = maria() ? "afar" : "postgres";
    return engines::sql::dial(to, boot_clock::now() + long_time);
  }
  static auto query(connection& on) {
    return [&on](const std::string& text) { return on.run(text).rows.size(); };
  }

  void SetUp() override {
    one->run("DROP TABLE IF EXISTS accounts");
    one->run(
        "CREATE TABLE accounts (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL,"
        " fence BIGINT NOT NULL DEFAULT 0)");
    one->run("INSERT INTO accounts (id, balance) VALUES (1, 100), (2, 100)");
  }

  // As the header shows it; how many rows were changed.
  std::int64_t write(std::uint64_t token, int balance) const {
    return one
        ->run("UPDATE accounts SET balance = " + std::to_string(balance) + ", " +
              sql::fence_set("fence", token) + " WHERE id = 1 AND " +
              sql::fence_check("fence", token))
        .affected;
  }
  std::string balance() const {
    return one->run("SELECT balance FROM accounts WHERE id = 1").rows[0][0].text;
  }

  static inline std::map<database, std::unique_ptr<sql_server>> servers;
  std::unique_ptr<connection> one = connect();
  std::unique_ptr<connection> two = connect();
};

TEST_P(sql_rows, refuse_the_write_of_a_holder_that_was_overtaken) {
  EXPECT_EQ(write(1'700'000'000'000'001, 1), 1);
  EXPECT_EQ(write(1'700'000'000'000'005, 5), 1);
  EXPECT_EQ(write(1'700'000'000'000'001, 2), 0) << "the older holder wrote over the newer one";
  EXPECT_EQ(balance(), "5");
}

TEST_P(sql_rows, are_fenced_by_the_tokens_of_a_lock_in_the_same_database) {
  const client first{server().url(), {.lease = 1s}};
  const client second{server().url(), {.lease = 1s}};
  mutex mine{first, "account 1"};
  mutex theirs{second, "account 1"};
  const hold stalls = mine.acquire({.lease = 100ms, .renew = renewal::off});
  ASSERT_EQ(write(stalls.token(), 1), 1);
  const hold next = theirs.acquire();  // when that lease is over
  ASSERT_EQ(write(next.token(), 2), 1);
  EXPECT_EQ(write(stalls.token(), 3), 0);
  EXPECT_EQ(balance(), "2");
}

// Documented: MariaDB counts what changed, not what was found, unless CLIENT_FOUND_ROWS is set.
TEST_P(sql_rows, look_overtaken_on_mariadb_when_a_write_changes_nothing) {
  EXPECT_EQ(write(1'700'000'000'000'005, 5), 1);
  EXPECT_EQ(write(1'700'000'000'000'005, 5), maria() ? 0 : 1);
  EXPECT_EQ(write(1'700'000'000'000'005, 6), 1) << "the same holder may write again";
}

TEST_P(sql_rows, take_no_name_that_is_more_than_a_name_and_no_token_of_nobody) {
  for (const char* name : {"fence; DROP TABLE accounts", "", "a b", "a..b", ".a", "a.", "1a", "ä"})
    EXPECT_THROW(sql::fence_check(name, 1), std::invalid_argument) << name;
  EXPECT_EQ(sql::fence_check("shop.accounts", 7), "shop.accounts <= 7");
  EXPECT_THROW(sql::fence_check("fence", 0), std::invalid_argument);
  EXPECT_THROW(sql::fence_set("fence", 0), std::invalid_argument);
  EXPECT_THROW(sql::fence_set("fence", std::uint64_t{1} << 63), std::invalid_argument)
      << "does not fit into the column";
}

TEST_P(sql_rows, are_locked_until_the_transaction_ends) {
  one->run("BEGIN");
  const row_lock mine{query(*one), "accounts", "id = 1"};
  EXPECT_TRUE(mine);
  two->run("BEGIN");
  EXPECT_FALSE((row_lock{query(*two), "accounts", "id = 1", if_locked::skip}));
  EXPECT_TRUE((row_lock{query(*two), "accounts", "id = 2", if_locked::skip}));
  EXPECT_THROW((row_lock{query(*two), "accounts", "id = 1", if_locked::fail}),
               engines::sql::failure);
  two->run("ROLLBACK");
  one->run("COMMIT");
  two->run("BEGIN");
  EXPECT_TRUE((row_lock{query(*two), "accounts", "id = 1", if_locked::fail}));
  EXPECT_FALSE((row_lock{query(*two), "accounts", "id = 3"})) << "there is no such row";
  two->run("ROLLBACK");
}

TEST_P(sql_rows, are_waited_for_and_then_read_fresh) {
  one->run("BEGIN");
  const row_lock mine{query(*one), "accounts", "id = 1"};
  std::atomic<bool> got = false;
  auto waits = start([&] {
    two->run("BEGIN");
    const row_lock theirs{query(*two), "accounts", "id = 1"};
    got = true;
    const std::string seen =
        two->run("SELECT balance FROM accounts WHERE id = 1").rows.at(0).at(0).text;
    two->run("COMMIT");
    return seen;
  });
  hold_still(50ms);
  EXPECT_FALSE(got);
  one->run("UPDATE accounts SET balance = 7 WHERE id = 1");
  one->run("COMMIT");
  EXPECT_EQ(waits.get(), "7");
}

TEST_P(sql_rows, are_waited_for_as_long_as_the_session_is_set_to) {
  two->run(maria() ? "SET SESSION innodb_lock_wait_timeout = 1" : "SET lock_timeout = '300ms'");
  one->run("BEGIN");
  const row_lock mine{query(*one), "accounts", "id = 1"};
  two->run("BEGIN");
  EXPECT_THROW((row_lock{query(*two), "accounts", "id = 1"}), engines::sql::failure);
  two->run("ROLLBACK");
  one->run("ROLLBACK");
}

// Documented: two who lock two rows in different orders meet; the database fails one of them.
TEST_P(sql_rows, of_two_that_are_locked_crosswise_one_is_refused) {
  for (connection* on : {one.get(), two.get()}) {  // longer than it takes to find the circle
    on->run(maria() ? "SET SESSION innodb_lock_wait_timeout = 60" : "SET lock_timeout = '60s'");
    on->run("BEGIN");
  }
  const row_lock first{query(*one), "accounts", "id = 1"};
  const row_lock second{query(*two), "accounts", "id = 2"};
  const auto crosses = [](connection& on, const char* where) {
    try {
      const row_lock other{query(on), "accounts", where};
      on.run("COMMIT");
      return true;
    } catch (const engines::sql::failure& f) {
      EXPECT_TRUE(f.again) << f.what.detail.str();
      on.run("ROLLBACK");
      return false;
    }
  };
  auto there = start([&] { return crosses(*two, "id = 1"); });
  const bool here = crosses(*one, "id = 2");
  EXPECT_NE(there.get(), here);
}

TEST_P(sql_rows, come_free_when_the_connection_of_the_one_who_locked_them_ends) {
  one->run("BEGIN");
  const row_lock mine{query(*one), "accounts", "id = 1"};
  one.reset();
  two->run("BEGIN");
  EXPECT_TRUE((row_lock{query(*two), "accounts", "id = 1"}));
  two->run("ROLLBACK");
}

// Documented: without a transaction the lock ends with its own statement.
TEST_P(sql_rows, are_not_locked_at_all_outside_of_a_transaction) {
  const row_lock mine{query(*one), "accounts", "id = 1"};
  EXPECT_TRUE(mine);
  two->run("BEGIN");
  EXPECT_TRUE((row_lock{query(*two), "accounts", "id = 1", if_locked::fail}));
  two->run("ROLLBACK");
}

INSTANTIATE_TEST_SUITE_P(, sql_rows, ::testing::Values(database::mariadb, database::postgresql),
                         [](const auto& of) {
                           return of.param == database::mariadb ? "mariadb" : "postgresql";
                         });

}  // namespace
}  // namespace afar::test
