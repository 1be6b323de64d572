// The proxy itself: each verb does what it says to a client, and no more.
#include "redis_fault_fixture.hpp"

#include <chrono>
#include <future>

namespace afar::test {
namespace {

class fault_proxy_test : public redis_fault_test {
 protected:
  client through = connect(proxy.url());
  counter c{through, name};
};

TEST_F(fault_proxy_test, passes_everything_on) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(c.fetch_add(1), i);
  EXPECT_EQ(through.stats().retried, 0U);
}

TEST_F(fault_proxy_test, strikes_the_nth_answer_only) {
  c.fetch_add(1);
  proxy.strike(mishap::drop, {"EVAL", name}, 3);
  c.fetch_add(1);
  c.fetch_add(1);
  EXPECT_FALSE(proxy.struck());
  EXPECT_EQ(through.stats().retried, 0U);
  EXPECT_EQ(c.fetch_add(1), 3);
  EXPECT_TRUE(proxy.struck());
  EXPECT_GT(through.stats().retried, 0U);
  EXPECT_EQ(counter(straight, name).load(), 4);
}

TEST_F(fault_proxy_test, delays_both_ways) {
  c.fetch_add(1);
  proxy.delay(30ms);
  EXPECT_GE(time_of([&] { c.fetch_add(1); }), 60ms);
}

TEST_F(fault_proxy_test, lets_bytes_pass_at_the_rate_that_it_is_told) {
  c.fetch_add(1);
  proxy.narrow(2'000);
  counter wordy{through, name + std::string(900, 'x')};
  EXPECT_GE(time_of([&] { wordy.fetch_add(1); }), 450ms) << "it has to say the name";
  proxy.narrow(0);
  EXPECT_EQ(c.fetch_add(1), 1);
  EXPECT_EQ(through.stats().retried, 0U) << "nothing was lost";
}

TEST_F(fault_proxy_test, cuts_short_or_garbles_what_the_server_says_next) {
  c.fetch_add(1);
  for (const mishap how : {mishap::truncate, mishap::garble}) {
    const int before = proxy.lost();
    const auto value = counter(straight, name).load();
    proxy.lose_answers(1, how);
    EXPECT_EQ(c.fetch_add(1), value) << "asked again, and counted once";
    EXPECT_EQ(proxy.lost(), before + 1);
    EXPECT_EQ(counter(straight, name).load(), value + 1);
  }
  EXPECT_GE(through.stats().retried, 2U);
}

TEST_F(fault_proxy_test, holds_one_way_until_healed) {
  c.fetch_add(1);
  proxy.hold(way::to_client);
  auto adds = std::async(std::launch::async, [&] { return c.fetch_add(1); });
  EXPECT_TRUE(eventually([&] { return counter(straight, name).load() == 2; }))
      << "that way is open";
  EXPECT_EQ(adds.wait_for(50ms), std::future_status::timeout);
  proxy.heal();
  EXPECT_EQ(adds.get(), 1);
  proxy.hold(way::to_server);
  adds = std::async(std::launch::async, [&] { return c.fetch_add(1); });
  EXPECT_EQ(adds.wait_for(50ms), std::future_status::timeout);
  EXPECT_EQ(counter(straight, name).load(), 2);
  proxy.heal();
  EXPECT_EQ(adds.get(), 2);
  EXPECT_EQ(through.stats().retried, 0U) << "nothing was lost";
}

TEST_F(fault_proxy_test, resets_and_half_closes_what_the_client_dials_again) {
  c.fetch_add(1);
  proxy.reset();
  c.fetch_add(1);
  proxy.half_close(way::to_client);
  c.fetch_add(1);
  proxy.half_close(way::to_server);
  c.fetch_add(1);
  EXPECT_EQ(counter(straight, name).load(), 4);
}

}  // namespace
}  // namespace afar::test
