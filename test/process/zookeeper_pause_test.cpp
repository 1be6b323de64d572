// A holder that stands still past its session.
#include "actor.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/zookeeper_server.hpp"

#include <gtest/gtest.h>

namespace afar::test {
namespace {

TEST(zookeeper_paused_holder, is_overtaken_after_its_session_and_can_do_no_harm_when_it_wakes_up) {
  const zookeeper_server server;
  actor slow{server.url() + "/test?session=4s"};
  actor next{server.url() + "/test?session=30s"};
  const grant first = slow.acquire("mutex", "x");
  ASSERT_TRUE(first);
  slow.stop();
  const grant second = next.acquire("mutex", "x");
  ASSERT_TRUE(second);
  EXPECT_GT(second.token, first.token);
  EXPECT_GE(second.at, first.valid_until);

  slow.send("valid");  // lies ready: the first thing that it does when it wakes up
  slow.resume();
  EXPECT_EQ(slow.answer(), "0");
  EXPECT_TRUE(eventually([&] { return slow.ask("lost") != "0"; }));
  EXPECT_EQ(slow.ask("add y 1"), "0") << "with a new session";
  EXPECT_EQ(slow.ask("release"), std::to_string(static_cast<int>(errc::lost)));
  EXPECT_FALSE(slow.acquire("mutex", "x", 50ms)) << "the late release let somebody in";
  EXPECT_EQ(next.ask("valid"), "1");
  EXPECT_EQ(next.ask("release"), "0");
  EXPECT_TRUE(slow.acquire("mutex", "x")) << "the old holder may have it again";
}

}  // namespace
}  // namespace afar::test
