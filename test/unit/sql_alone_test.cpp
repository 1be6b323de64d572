// Steps that go without a worker: who asks for one sends its statement, and who waits reads the answer.
// Nothing of this may hold up that thread, or leave an answer that nobody reads.
#include "sql_fixture.hpp"

#include <afar/asio.hpp>

#include <unistd.h>
#include <asio/use_future.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

namespace afar::test {
namespace {

class sql_alone : public sql_test {
 protected:
  // What a lock says first is prepared from then on, so it can be sent.
  static void warm_up(const client& c, const std::string& name) {
    mutex(c, name).acquire().release();
  }
  // Somebody's transaction holds the row of this name.
  std::unique_ptr<session> row_locked(const std::string& of) {
    auto admin = open_session(server);
    admin->run("BEGIN");
    admin->run("SELECT 1 FROM afar_names WHERE name = '" + of + "' FOR UPDATE");
    return admin;
  }

  sql_server server{GetParam()};
  client one = open_client(server.url());
};

// Waits of all threads of this process but the one that asks.
std::uint64_t waits_of_others() {
  const auto me = std::to_string(::gettid());
  std::uint64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    if (task.path().filename() == me) continue;
    std::ifstream lines{task.path() / "status"};
    for (std::string word; lines >> word;)
      if (word == "voluntary_ctxt_switches:" && lines >> word) sum += std::stoull(word);
  }
  return sum;
}

TEST_P(sql_alone, wakes_no_other_thread) {
  mutex m{one, name};
  warm_up(one, name);
  constexpr std::uint64_t pairs = 10;
  const auto woken = [&] {
    const auto before = waits_of_others();
    for (std::uint64_t i = 0; i < pairs; ++i) m.acquire().release();
    return waits_of_others() - before;
  };
  // On a busy machine an answer may take so long that another thread has to hear it.
  EXPECT_TRUE(eventually([&] { return woken() < pairs / 2; }, long_time));
}

TEST_P(sql_alone, is_heard_where_nobody_waits) {
  warm_up(one, name);
  mutex m{one, name};
  const auto before = one.stats().released;
  m.lock();
  m.unlock();
  EXPECT_TRUE(eventually([&] { return one.stats().released == before + 1; }));
  auto later = async_acquire(m, asio::use_future);
  ASSERT_EQ(later.wait_for(long_time), std::future_status::ready);
  EXPECT_TRUE(later.get().valid());
}

// A release that was sent ahead, and then takes several statements. PostgreSQL's rings by itself.
TEST_P(sql_alone, wakes_whom_it_makes_the_holder) {
  const client two = open_client(server.url());
  const auto admin = open_session(server);
  const auto kills = [&] {
    return admin->run("SHOW GLOBAL STATUS LIKE 'Com_kill'").rows.at(0)[1].text;
  };
  warm_up(one, name);
  std::uint64_t waited = 0;
  const auto rung = [&] {
    hold held = mutex(one, name).acquire();
    auto waits = std::async(std::launch::async, [&] { return mutex(two, name).acquire(); });
    EXPECT_TRUE(has_waited(two, ++waited));
    const std::string before = maria() ? kills() : "";
    held.release();
    EXPECT_TRUE(waits.get());
    return !maria() || kills() != before;
  };
  // The first ones may be granted before there is a bell, or between two of its sleeps; what a step has left to
  // the next one is rung, but not each time.
  int in_a_row = 0;
  const auto rings = [&] { return (in_a_row = rung() ? in_a_row + 1 : 0) == 5; };
  EXPECT_TRUE(eventually(rings, long_time)) << "it finds out by itself";
}

TEST_P(sql_alone, holds_up_neither_its_caller_nor_the_loss_of_a_hold) {
  client c = open_client(server.url(), {.lease = renewed_lease});
  warm_up(c, name + "/other");
  hold held = mutex(c, name).acquire();
  mutex other{c, name + "/other"};
  server.suspend();
  const auto start = boot_clock::now();
  EXPECT_FALSE(other.try_lock_for(300ms));
  EXPECT_LT(boot_clock::now() - start, 300ms + slowness * 1s);
  auto waits = std::async(std::launch::async, [&] { return other.try_lock_for(long_time); });
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }, 5s + renewed_lease));
  EXPECT_LT(boot_clock::now(), held.valid_until() + slowness * 1s);
  EXPECT_EQ(held.why(), loss_reason::unreachable);
  server.resume();
  EXPECT_TRUE(waits.get()) << "it does not go on";
  other.unlock();
}

TEST_P(sql_alone, hears_a_stop_token) {
  warm_up(one, name);
  mutex m{one, name};
  server.suspend();
  std::stop_source enough;
  auto waits =
      std::async(std::launch::async, [&] { return m.acquire({.stop = enough.get_token()}); });
  hold_still(100ms);
  const auto start = boot_clock::now();
  enough.request_stop();
  EXPECT_EQ(thrown_by([&] { waits.get(); }), errc::cancelled);
  EXPECT_LT(boot_clock::now() - start, slowness * 1s);
  server.resume();
  EXPECT_TRUE(m.try_lock_for(long_time)) << "it does not go on";
  m.unlock();
}

TEST_P(sql_alone, ends_with_its_client) {
  warm_up(one, name);
  mutex m{one, name};
  server.suspend();
  auto waits = std::async(std::launch::async, [&] { return m.acquire(); });
  auto later = async_acquire(m, asio::use_future);
  hold_still(100ms);
  const auto start = boot_clock::now();
  one.close();
  EXPECT_EQ(thrown_by([&] { waits.get(); }), errc::closed);
  ASSERT_EQ(later.wait_for(long_time), std::future_status::ready);
  EXPECT_LT(boot_clock::now() - start, slowness * 4s);
  server.resume();
}

TEST_P(sql_alone, holds_up_no_other_thread_of_its_client) {
  const auto other_took = [&] {
    const client c = open_client(server.url());
    const std::string locked = fresh_name();
    warm_up(c, locked);
    const auto admin = row_locked(locked);
    auto waits = std::async(std::launch::async, [&] { return mutex(c, locked).acquire(); });
    EXPECT_EQ(waits.wait_for(50ms), std::future_status::timeout);
    const auto took = time_of([&] { warm_up(c, name); });
    admin->run("COMMIT");
    EXPECT_TRUE(waits.get());
    return took;
  };
  EXPECT_LT(quickest(400ms, other_took), 400ms) << "it has waited until the other one was stuck";
}

// The server gives up a statement that waits for a row after 2 s.
TEST_P(sql_alone, holds_up_what_nobody_waits_for_only_until_it_is_stuck) {
  const auto other_took = [&] {
    const client c = open_client(server.url());  // of one connection yet
    const std::string locked = fresh_name();
    warm_up(c, locked);
    mutex m{c, locked};
    mutex other{c, name};
    const auto admin = row_locked(locked);
    auto first = async_acquire(m, asio::use_future);
    auto second = async_acquire(other, asio::use_future);
    const auto took = time_of([&] { second.wait(); });
    admin->run("COMMIT");
    EXPECT_TRUE(second.get().valid());
    EXPECT_TRUE(first.get().valid());
    return took;
  };
  EXPECT_LT(quickest(1'500ms, other_took), 1'500ms);
}

AFAR_FOR_EVERY_DATABASE(sql_alone);

}  // namespace
}  // namespace afar::test
