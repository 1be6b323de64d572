// The server's wall clock jumps by an hour, which all its leases are counted on. (V-2: valkey #2651)
#include "redis_fault_fixture.hpp"

#include <chrono>
#include <future>

namespace afar::test {
namespace {

class redis_clock : public ::testing::Test {
 protected:
  redis_server server{{}, wall_clock::its_own};
  const client_options options{.lease = renewed_lease, .handoff = 0};
  client one{server.url(), options};
  client two{server.url(), options};
  const std::string name = fresh_name();
};

TEST_F(redis_clock, an_hour_ahead_ends_every_lease_and_holders_are_told) {
  const hold held = mutex(one, name).acquire();
  server.shift_clock(1h);
  hold next = mutex(two, name).acquire();
  EXPECT_GT(next.token(), held.token()) << "a fence can tell them apart";
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_FALSE(held.valid());
  next.release();
  EXPECT_TRUE(mutex(one, name).acquire());
}

TEST_F(redis_clock, an_hour_back_keeps_holds_and_their_order) {
  hold held = mutex(one, name).acquire();
  const auto first_end = held.valid_until();
  server.shift_clock(-1h);
  auto waits = std::async(std::launch::async, [&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));
  EXPECT_FALSE(mutex(two, name).try_acquire_for(50ms)) << "by our clock, not by the server's";
  ASSERT_TRUE(eventually([&] { return boot_clock::now() > first_end; }));
  EXPECT_TRUE(held.valid());
  held.release();
  const hold next = waits.get();
  EXPECT_GT(next.token(), held.token());
}

TEST_F(redis_clock, that_was_ahead_and_is_set_right_lets_no_token_go_back) {
  server.shift_clock(1h);
  hold ahead = mutex(one, name).acquire();
  const auto token = ahead.token();
  ahead.release();
  server.shift_clock(0h);
  const hold next = mutex(two, name).acquire();
  EXPECT_GT(next.token(), token);
  EXPECT_TRUE(eventually([&] { return two.stats().renewed > 0; }));
}

}  // namespace
}  // namespace afar::test
