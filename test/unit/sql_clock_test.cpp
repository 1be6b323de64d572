// The server's wall clock, which all leases are counted on: it jumps by an hour, and it lives through
// the night in which local time repeats one.
#include "sql_fixture.hpp"

#include <chrono>
#include <future>

namespace afar::test {
namespace {

class sql_clock : public sql_test {
 protected:
  sql_server server{GetParam(), sql_setting{.clock = wall_clock::its_own}};
  const client_options options{.lease = renewed_lease};
  client one = open_client(server.url(), options);
  client two = open_client(server.url(), options);
};

TEST_P(sql_clock, an_hour_ahead_ends_every_lease_and_holders_are_told) {
  const hold held = mutex(one, name).acquire();
  server.shift_clock(1h);
  hold next = mutex(two, name).acquire();
  EXPECT_GT(next.token(), held.token()) << "a fence can tell them apart";
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_FALSE(held.valid());
  next.release();
  EXPECT_TRUE(mutex(one, name).acquire());
}

TEST_P(sql_clock, an_hour_back_keeps_holds_and_their_order) {
  hold held = mutex(one, name).acquire();
  const auto token = held.token();
  const auto first_end = held.valid_until();
  server.shift_clock(-1h);
  auto waits = std::async(std::launch::async, [&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));
  ASSERT_TRUE(eventually([&] { return boot_clock::now() > first_end; }));
  EXPECT_TRUE(held.valid());
  held.release();
  const hold next = waits.get();
  EXPECT_GT(next.token(), token);
}

TEST_P(sql_clock, that_was_ahead_and_is_set_right_lets_no_token_go_back) {
  server.shift_clock(1h);
  hold ahead = mutex(one, name).acquire();
  const auto token = ahead.token();
  ahead.release();
  server.shift_clock(0h);
  const hold next = mutex(two, name).acquire();
  EXPECT_GT(next.token(), token);
  EXPECT_TRUE(eventually([&] { return two.stats().renewed > 0; }));
}

AFAR_FOR_EVERY_DATABASE(sql_clock);

// Central Europe, where 02:00 to 03:00 comes twice at the end of October. Spelled out: no zone file is
// needed.
constexpr const char* zone = "CET-1CEST,M3.5.0,M10.5.0/3";

class sql_fold : public sql_test {
 protected:
  static std::vector<std::string> local_time() {
    if (maria()) return {};
    return {"-c", std::string{"timezone="} + zone};
  }

  sql_server server{
      GetParam(), sql_setting{.options = local_time(), .clock = wall_clock::its_own, .zone = zone}};
  const std::unique_ptr<session> look = open_session(server);

  std::string local_hour() {
    return first_field(*look, maria() ? "SELECT HOUR(NOW())" : "SELECT extract(hour FROM now())");
  }
};

TEST_P(sql_fold, neither_lengthens_a_lease_nor_ends_one) {
  using namespace std::chrono;
  constexpr milliseconds lease = 3s;
  const auto fold = sys_days{2026y / October / 25} + 1h;  // 03:00 becomes 02:00
  server.shift_clock(fold - 1'500ms - system_clock::now());
  client one = open_client(server.url(), {.lease = renewed_lease});
  client two = open_client(server.url(), {.lease = renewed_lease});
  ASSERT_EQ(local_hour(), "2");
  hold kept = mutex(one, name + "/kept").acquire();
  const hold silent = mutex(one, name).acquire({.lease = lease, .renew = renewal::off});
  const auto since = boot_clock::now();
  const hold next = mutex(two, name).try_acquire_for(long_time);
  const auto took = boot_clock::now() - since;
  ASSERT_TRUE(next) << "longer by an hour";
  EXPECT_FALSE(silent.valid()) << "two hold it";
  EXPECT_LT(took, lease + slowness * 5s);
  EXPECT_EQ(local_hour(), "2") << "the hour has not come again";
  EXPECT_TRUE(kept.valid());
  EXPECT_FALSE(mutex(two, name + "/kept").try_acquire());
  kept.release();
  EXPECT_TRUE(mutex(two, name + "/kept").try_acquire());
}

AFAR_FOR_EVERY_DATABASE(sql_fold);

}  // namespace
}  // namespace afar::test
