// The master by the word of its Sentinels, and the next one after it.
#include "failover_scene.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/redis_topologies.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <string>

namespace afar::test {
namespace {

failure opening(const std::string& url) {
  return failure_of([&] { client{url}; });
}

TEST(redis_sentinel, finds_the_master_by_any_of_them) {
  const sentinel_group g{nerves::patient};
  const client c{g.url()};
  EXPECT_EQ(counter(c, "c").fetch_add(1), 0);
  EXPECT_EQ(counter(client{g.master().url()}, "c").load(), 1) << "the master has it";
  const auto rows = examine(c);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].topic, "sentinel");
  EXPECT_EQ(rows[0].how, finding::grade::ok) << rows[0].text;
  EXPECT_NE(rows[0].text.find("3 usable Sentinels"), std::string::npos) << rows[0].text;
  g.sentinels[0]->stop();
  EXPECT_EQ(counter(client{g.url()}, "c").load(), 1) << "the next Sentinel answers";
  const auto wrong = opening("redis+sentinel://" + g.sentinels[1]->address() + "/other");
  EXPECT_EQ(wrong.code, errc::unsupported) << wrong.message;
  EXPECT_NE(wrong.message.find("no master \"other\""), std::string::npos) << wrong.message;
  EXPECT_EQ(opening("redis+sentinel://" + g.sentinels[1]->address()).code, errc::bad_url);
}

TEST(redis_sentinel, says_so_if_nobody_is_there) {
  redis_server s;
  const std::string url = "redis+sentinel://" + s.address() + "/m";
  s.stop();
  failure f;
  const auto took = time_of([&] { f = opening(url); });
  EXPECT_EQ(f.code, errc::unavailable);
  EXPECT_NE(f.message.find("Sentinel"), std::string::npos) << f.message;
  EXPECT_LT(took, slowness * 2s);
}

TEST(redis_sentinel, refuses_sticky_leases_and_says_why) {
  const sentinel_group g{nerves::patient};
  const auto f = failure_of([&] { client{g.url(), {.sticky = 5ms}}; });
  EXPECT_EQ(f.code, errc::unsupported) << f.message;
  EXPECT_NE(f.message.find("read off the clock"), std::string::npos) << f.message;
}

// One that was the master may take itself for it a moment longer than its successor: two that count each
// for itself would give tokens that are older than one given before.
TEST(redis_sentinel, tokens_are_read_off_the_clock_that_two_masters_share) {
  const sentinel_group g{nerves::patient};
  const client c{g.url()};
  mutex m{c, "m"};
  for (int i = 0; i < 3; ++i) {
    const auto second = [&] {
      return std::stoull(text_of(g.master().ask({"EVAL", "return redis.call('TIME')[1]", "0"})));
    };
    const auto now = second();
    EXPECT_GE(m.acquire().token(), now * 1'000'000);
    ASSERT_TRUE(eventually([&] { return second() > now; }));
  }
}

TEST(redis_sentinel, failover_with_holders_and_waiters) {
  const sentinel_group g{nerves::quick};
  failover_scene scene{g.url(), "m"};
  redis_server& old = g.master();
  scene.run([&] { old.stop(); }, [&] { return g.promoted_after(old); });
}

}  // namespace
}  // namespace afar::test
