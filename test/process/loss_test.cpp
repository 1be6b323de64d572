// A holder that falls silent: overtaken after its lease, told before that, refused by its token.
#include "actor.hpp"
#include "scene.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <string>

namespace afar::test {
namespace {

const std::string fault_in_acquire = "embedded.acquire.before_commit";

class paused_holder : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string kind = GetParam();
  scene stage;
};

TEST_P(paused_holder, is_overtaken_and_can_do_no_harm_when_it_wakes_up) {
  actor slow{stage, "lease=400ms"};
  actor next{stage};
  const grant first = slow.acquire(kind, "x");
  ASSERT_TRUE(first);
  slow.stop();

  const grant second = next.acquire(kind, "x");
  ASSERT_TRUE(second);
  EXPECT_GT(second.token, first.token);
  EXPECT_GE(second.at, first.valid_until);
  const std::string fence = stage.path("fence");
  EXPECT_EQ(next.ask("admit " + fence + " " + std::to_string(second.token)), "1");

  slow.send("valid");  // lies ready: the first thing that it does when it wakes up
  slow.resume();
  EXPECT_EQ(slow.answer(), "0");
  EXPECT_TRUE(eventually([&] { return slow.ask("lost") != "0"; }));
  EXPECT_EQ(slow.ask("admit " + fence + " " + std::to_string(first.token)), "0");

  EXPECT_EQ(slow.ask("release"), std::to_string(static_cast<int>(errc::lost)));
  EXPECT_FALSE(slow.acquire(kind, "x", 50ms)) << "the late release let somebody in";
  EXPECT_EQ(next.ask("valid"), "1");
  EXPECT_EQ(next.ask("release"), "0");
  EXPECT_TRUE(slow.acquire(kind, "x")) << "the old holder may have it again";
}

INSTANTIATE_TEST_SUITE_P(, paused_holder,
                         ::testing::Values("mutex", "fair_mutex", "shared_mutex", "permits",
                                           "election"),
                         [](const auto& i) { return i.param; });

TEST(loss, is_told_before_another_is_granted_when_nothing_is_renewed) {
  scene stage;
  actor holder{stage, "lease=400ms&margin=80ms"};
  actor next{stage};
  ASSERT_TRUE(holder.acquire("mutex", "x", 10s, "off"));
  const grant second = next.acquire("mutex", "x");
  ASSERT_TRUE(second);
  const std::int64_t told = std::stoll(holder.ask("lost"));
  ASSERT_NE(told, 0);
  EXPECT_LT(told, second.at);
}

// The holder's own process is fine, but a third one is stopped in the middle of a transaction, so
// that no renewal gets through.
TEST(loss, is_told_before_another_is_granted_when_renewals_do_not_get_through) {
  scene stage;
  constexpr auto lease = 600ms;
  constexpr auto margin = 100ms;
  const client locks = stage.client({.lease = lease, .margin = margin});
  mutex x{locks, "x"};
  const hold held = x.acquire();
  std::atomic<std::int64_t> told = 0;
  const std::stop_callback on_loss{held.lost(), [&] { told = stamp(); }};

  actor blocker{stage};
  blocker.arm(fault_in_acquire + ":stop");
  blocker.send_acquire("mutex", "x");
  ASSERT_TRUE(blocker.stops());
  ASSERT_TRUE(eventually([&] { return boot_clock::now() >= held.valid_until() + margin; }));
  EXPECT_FALSE(held.valid());
  blocker.resume();

  const grant next = blocker.receive_grant();
  ASSERT_TRUE(next);
  EXPECT_GT(next.token, held.token());
  ASSERT_NE(told, 0);
  EXPECT_LT(told, next.at);
  EXPECT_LT(told, (held.valid_until() + margin).time_since_epoch().count())
      << "not before the lease was over";
  EXPECT_NE(held.why(), loss_reason::none);
}

TEST(loss, does_not_come_to_a_holder_that_is_paused_for_less_than_its_lease) {
  scene stage;
  actor holder{stage, "lease=2s"};
  ASSERT_TRUE(holder.acquire("mutex", "x"));
  for (int i = 0; i < 5; ++i) {
    holder.stop();
    hold_still(200ms);
    holder.resume();
    EXPECT_EQ(holder.ask("valid"), "1");
  }
  hold_still(2s);  // it goes on renewing
  EXPECT_EQ(holder.ask("valid"), "1");
  EXPECT_EQ(holder.ask("lost"), "0");
  EXPECT_EQ(holder.ask("release"), "0");
}

}  // namespace
}  // namespace afar::test
