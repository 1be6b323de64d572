// Many connections on one lock of a database: no deadlock and no lock wait reaches a caller, and a
// reader of the table, who knows nothing of afar, never sees a token go back or two owners of one.
#include "sql_fixture.hpp"
#include "support/threads.hpp"
#include "torture/fault_proxy.hpp"

#include "engines/sql/row.hpp"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

constexpr int clients = 16;

int grants_wanted() {
  const char* told = std::getenv("AFAR_SQL_GRANTS");  // 100000 for a proof; takes a while
  return told ? std::atoi(told) : 1'000;
}

class sql_contention : public sql_test {
 protected:
  sql_server server{GetParam()};
};

TEST_P(sql_contention, surfaces_no_deadlock_and_excludes) {
  const int wanted = grants_wanted();
  const client first{server.url()};  // makes the tables
  std::atomic<int> granted{0};
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<bool> over{false};
  std::map<std::int64_t, std::string> owners;
  std::int64_t last = 0;
  int went_back = 0;
  const auto note = [&](const engines::sql::row& seen) {
    if (seen.owner.empty()) return;
    if (seen.token < last) ++went_back;
    last = seen.token;
    const auto [at, fresh] = owners.emplace(seen.token, seen.owner);
    if (!fresh && at->second != seen.owner) ++went_back;
  };
  std::thread looks{[&] {
    std::unique_ptr<session> table;
    while (!over) {
      try {
        if (!table) table = open_session(server);
        note(engines::sql::load(*table, name));
      } catch (const engines::sql::failure&) {  // a busy machine; not what is tested
        table.reset();
      }
    }
  }};
  std::atomic<int> failures{0};
  in_parallel(clients, [&](int) {
    // A busy machine is not what is tested.
    client mine = open_client(server.url() + "?connections=1", {.patience = 120s});
    mutex m{mine, name};
    while (granted < wanted) {
      try {
        const hold held = m.acquire();
        if (inside.fetch_add(1) != 0) ++overlaps;
        ++granted;
        inside.fetch_sub(1);
      } catch (const lock_error& e) {
        ++failures;
        ADD_FAILURE() << e.what();
        return;
      }
    }
  });
  over = true;
  looks.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(went_back, 0);
  EXPECT_GE(granted, wanted);
}

// Two statements of the slow one take longer than all that the quick one does.
TEST_P(sql_contention, lets_a_slow_client_get_in_line_behind_a_quick_one) {
  torture::fault_proxy far{server.port()};
  client quick = open_client(server.url());
  client slow = open_client(server.scheme() + "://" + server.address(far.port()));
  mutex theirs{slow, name};
  theirs.acquire().release();
  far.delay(3ms);
  std::atomic<bool> over{false};
  std::thread busy{[&] {
    mutex mine{quick, name};
    while (!over) mine.acquire().release();
  }};
  for (int round = 0; round < 5; ++round) EXPECT_TRUE(theirs.try_acquire_for(long_time)) << round;
  over = true;
  busy.join();
}

// It asks again when the answer is lost.
TEST_P(sql_contention, one_that_gets_in_line_twice_stands_there_once) {
  client c = open_client(server.url());
  hold held = mutex(c, name).acquire();
  const auto table = open_session(server);
  spi::claim later;
  later.what = {spi::kind::mutex, name};
  later.owner = {1, 2, 3};
  const std::string arrival = engines::sql::arrival_of(later, 4);
  const std::string owner = later.owner.text();
  const auto join = [&](std::int64_t end, std::string_view by) {
    return table
        ->ask(engines::sql::statement::join, std::string_view{name}, std::int64_t{1},
              std::string_view{arrival}, end, by)
        .affected;
  };
  constexpr auto never = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(join(0, owner), 0) << "it came too late";
  EXPECT_EQ(join(never, owner), 1);
  EXPECT_EQ(join(never, owner), 1);
  const auto seen = inspect(c, name);
  ASSERT_EQ(seen->waiters.size(), 1U);
  EXPECT_EQ(seen->waiters[0].owner, owner);
  EXPECT_EQ(seen->holders.at(0).token, held.token());
  EXPECT_EQ(join(never, seen->holders[0].owner), 0) << "behind itself";
  held.release();
  EXPECT_EQ(join(never, owner), 0) << "nobody would call it";
}

AFAR_FOR_EVERY_DATABASE(sql_contention);

}  // namespace
}  // namespace afar::test
