// After everybody is gone, whether they left or were killed, nothing remains but token floors, and
// after a while not even those.
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {
namespace {

const std::vector<std::string> kinds{"mutex",  "fair_mutex", "shared_mutex",
                                     "reader", "permits",    "election"};

TEST(leak, there_is_none_after_kills_of_holders_and_waiters) {
  scene stage;
  {
    std::vector<std::unique_ptr<actor>> all;
    const auto add = [&]() -> actor& {
      all.push_back(std::make_unique<actor>(stage));
      return *all.back();
    };
    for (const std::string& kind : kinds) {
      ASSERT_TRUE(add().acquire(kind, kind));
      if (kind == "reader") continue;
      add().send_acquire(kind, kind);
      ASSERT_TRUE(stage.becomes(kind, 1, 1));
    }
    // Some are killed, some leave: as holders and as waiters.
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % 3 != 2) all[i]->kill();
  }  // the rest is killed here

  EXPECT_TRUE(eventually([&] {
    const auto entries = stage.survey();
    return std::all_of(entries.begin(), entries.end(),
                       [](const spi::entry& e) { return e.holders.empty() && e.waiters.empty(); });
  })) << "a dead process still holds or waits";
  EXPECT_TRUE(eventually([&] { return stage.survey().empty(); }, 30s)) << "floors do not expire";
}

TEST(leak, there_is_none_after_processes_that_leave_in_peace) {
  scene stage;
  for (int i = 0; i < 5; ++i) {
    actor guest{stage};
    for (const std::string& kind : kinds) ASSERT_TRUE(guest.acquire(kind, kind));
    EXPECT_EQ(guest.leave(), 0);
  }
  for (const spi::entry& e : stage.survey()) {
    EXPECT_TRUE(e.holders.empty()) << e.name;
    EXPECT_TRUE(e.waiters.empty()) << e.name;
  }
}

}  // namespace
}  // namespace afar::test
