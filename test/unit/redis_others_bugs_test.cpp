// Faults that other lock libraries had, replayed on a real server in both layouts. The number is the
// one in the table of docs/engines/redis.md.
#include "support/engines.hpp"
#include "support/redis_server.hpp"
#include "support/renewed_lease.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

namespace afar::test {
namespace {

class others_bugs : public ::testing::TestWithParam<const char*> {
 protected:
  client connect(milliseconds lease, const std::string& more = {}) const {
    return client{server->url() + "?layout=" + GetParam() + more, {.lease = lease}};
  }
  bool exists(const std::string& key) const { return server->ask({"EXISTS", key}) == ":1\r\n"; }
  std::size_t keys_like(const std::string& pattern) const {
    return std::stoul(server->ask({"KEYS", pattern}).substr(1));
  }

  std::unique_ptr<redis_server> server = std::make_unique<redis_server>();
  const std::string name = "others_bugs";
};

TEST_P(others_bugs, R1_a_renewal_that_fails_once_is_tried_again) {
  const client c = connect(renewed_lease * 2);
  const hold mine = mutex{c, name}.acquire();
  const auto granted = boot_clock::now();
  server->ask({"ACL", "SETUSER", "default", "-eval", "-evalsha"});
  ASSERT_TRUE(eventually([&] { return server->ask({"ACL", "LOG"}) != "*0\r\n"; }));
  server->ask({"ACL", "SETUSER", "default", "+eval", "+evalsha"});
  EXPECT_TRUE(eventually([&] { return c.stats().renewed > 0; }));
  hold_still(granted + renewed_lease * 3 - boot_clock::now());
  EXPECT_TRUE(mine.valid());
}

TEST_P(others_bugs, R2_a_cancelled_acquire_leaves_no_orphan_behind) {
  const client c = connect(10s);
  std::mt19937 random{42};
  mutex busy{c, name + "/busy"};
  const hold other = mutex{connect(10s), name + "/busy"}.acquire();
  for (int round = 0; round < 100; ++round) {
    std::stop_source stop;
    const std::string& wanted = round % 2 ? name : busy.name();
    auto waiter = start([&] {
      std::error_code ec;
      return mutex{c, wanted}.acquire({.stop = stop.get_token()}, ec).valid();
    });
    hold_still(std::chrono::microseconds{random() % 1'500});
    stop.request_stop();
    waiter.get();
  }
  EXPECT_TRUE(eventually([&] { return !exists(name); }));
  EXPECT_TRUE(eventually([&] { return inspect(c, busy.name())->waiters.empty(); }));
}

TEST_P(others_bugs, R3_a_renewal_does_not_outlive_its_release) {
  const client c = connect(30ms);
  for (int round = 0; round < 50; ++round) {
    hold mine = mutex{c, name}.acquire();
    hold_still(std::chrono::microseconds{9'500 + round * 20});  // when the renewal is due
    std::error_code late;  // on a busy machine the lease may be over
    mine.release(late);
    EXPECT_FALSE(exists(name)) << round;
  }
  hold_still(90ms);
  EXPECT_FALSE(exists(name));
}

TEST_P(others_bugs, R4_readers_that_left_are_renewed_no_more) {
  const client c = connect(300ms);
  shared_mutex book{c, name};
  recursive_mutex nested{c, name + "/nested"};
  {
    const hold first = book.acquire_shared();
    const hold second = book.acquire_shared();
    nested.lock();
    nested.lock();
    nested.unlock();
    nested.unlock();
  }
  EXPECT_TRUE(eventually([&] { return !exists(name) && !exists(name + "/nested"); }));
  const auto before = c.stats().renewed;
  hold_still(900ms);
  EXPECT_EQ(c.stats().renewed, before);
  EXPECT_EQ(keys_like("*rwlock_timeout*"), 0U);
}

TEST_P(others_bugs, R5_renewal_goes_on_after_a_reconnect) {
  const client c = connect(renewed_lease);
  const hold mine = mutex{c, name}.acquire();
  shared_mutex book{c, name + "/book"};
  const hold reader = book.acquire_shared();
  leased_semaphore seats{c, name + "/seats", 2};
  const hold seat = seats.acquire();
  for (int round = 0; round < 3; ++round) {
    server->ask({"CLIENT", "KILL", "TYPE", "normal"});
    server->ask({"CLIENT", "KILL", "TYPE", "pubsub"});
    hold_still(renewed_lease);
  }
  EXPECT_TRUE(mine.valid());
  EXPECT_TRUE(reader.valid());
  EXPECT_TRUE(seat.valid());
}

TEST_P(others_bugs, R8_a_name_is_usable_after_its_server_came_back_empty) {
  const client c = connect(renewed_lease);
  const client other = connect(10s);
  mutex lock{c, name};
  const hold mine = lock.acquire();
  auto waiter = start([&] { return mutex{other, name}.try_acquire_for(long_time); });
  ASSERT_TRUE(has_waited(other));
  server->stop();
  server->start();
  hold theirs = waiter.get();
  EXPECT_TRUE(theirs);
  EXPECT_GT(theirs.token(), mine.token());
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  theirs.release();
  EXPECT_TRUE(lock.try_lock_for(long_time));
}

TEST_P(others_bugs, V1_a_server_that_drops_locks_is_refused_and_a_lock_it_drops_is_told) {
  server = std::make_unique<redis_server>(
      std::vector<std::string>{"--maxmemory-policy", "volatile-ttl"});
  EXPECT_THROW(connect(10s), lock_error);
  const client c = connect(renewed_lease, "&eviction=accept");
  const hold mine = mutex{c, name}.acquire();
  server->ask({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_TRUE(eventually([&] {
    server->ask({"SET", "filler", "x"});
    return !exists(name);
  }));
  server->ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_GT(mutex(connect(10s, "&eviction=accept"), name).acquire().token(), mine.token());
}

// A server whose clock can be set.
class others_bugs_of_clocks : public others_bugs {
 protected:
  others_bugs_of_clocks() {
    server = std::make_unique<redis_server>(std::vector<std::string>{}, wall_clock::its_own);
  }
};

TEST_P(others_bugs_of_clocks, V2_tokens_grow_and_losers_are_told_when_the_servers_clock_jumps) {
  const client c = connect(renewed_lease);
  const client other = connect(10s);
  std::uint64_t last = 0;
  for (const auto jump : {1h, 0h, -1h}) {
    hold mine = mutex{c, name}.acquire();
    EXPECT_GT(mine.token(), last);
    server->shift_clock(jump);
    if (jump > 0h) {
      EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
    } else {
      EXPECT_FALSE(mutex(other, name).try_lock_for(2 * renewed_lease)) << "renewal goes on";
      EXPECT_TRUE(mine.valid());
      mine.release();
    }
    hold theirs = mutex{other, name}.acquire();
    EXPECT_GT(theirs.token(), mine.token());
    last = theirs.token();
    theirs.release();
  }
}

const auto layouts = ::testing::Values("afar", "redisson");
const auto layout_name = [](const auto& of) { return std::string{of.param}; };
INSTANTIATE_TEST_SUITE_P(, others_bugs, layouts, layout_name);
INSTANTIATE_TEST_SUITE_P(, others_bugs_of_clocks, layouts, layout_name);

}  // namespace
}  // namespace afar::test
