// fork() while holding: everything of afar is inert in the child, and the parent notices nothing.
#include "actor.hpp"
#include "scene.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace afar::test {
namespace {

// Runs `work` in a forked child and returns what it answers (0 to 100; -1: it crashed).
int in_a_child(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class forked : public ::testing::Test {
 protected:
  // For longer than two leases it is ours, and only ours.
  void expect_untouched(const hold& held) {
    actor other{stage};
    const auto end = boot_clock::now() + 2 * lease + 200ms;
    while (boot_clock::now() < end) {
      ASSERT_TRUE(held.valid());
      ASSERT_FALSE(other.acquire("mutex", "x", 20ms));
    }
    EXPECT_FALSE(held.lost().stop_requested());
  }

  static constexpr milliseconds lease{600 * slowness};
  scene stage;
  client locks = stage.client({.lease = lease});
  mutex x{locks, "x"};
};

TEST_F(forked, child_finds_every_handle_inert) {
  hold held = x.acquire();
  mutex y{locks, "y"};
  counter count{locks, "count"};
  stock shop{locks, "shop"};
  const int failed = in_a_child([&] {
    std::error_code ec;
    if (held.valid()) return 1;
    if (y.try_lock(ec) || ec != errc::forked) return 2;
    if (y.try_lock_for(10ms, ec) || ec != errc::forked) return 3;
    y.lock(ec);
    if (ec != errc::forked) return 4;
    count.fetch_add(1, ec);
    if (ec != errc::forked) return 5;
    shop.take(1, "order", "buyer", ec);
    if (ec != errc::forked) return 6;
    const hold another = y.acquire({}, ec);
    if (another || ec != errc::forked) return 7;
    held.release(ec);
    if (ec != errc::forked) return 8;
    return 0;
  });
  EXPECT_EQ(failed, 0);
  expect_untouched(held);
  held.release();
  EXPECT_EQ(count.load(), 0);
}

TEST_F(forked, child_that_destroys_its_copies_releases_nothing) {
  hold held = x.acquire();
  std::optional<client> copy = locks;
  std::optional<mutex> locked;
  locked.emplace(locks, "y");
  locked->lock();
  const int failed = in_a_child([&] {
    {
      const hold mine = std::move(held);
    }
    locked->unlock();
    locked.reset();
    copy->close();
    copy.reset();
    return 0;
  });
  EXPECT_EQ(failed, 0);
  expect_untouched(held);
  EXPECT_TRUE(locked->valid());
  EXPECT_EQ(locks.stats().released, 0U);
}

TEST_F(forked, child_may_open_a_client_of_its_own) {
  hold held = x.acquire();
  const int failed = in_a_child([&] {
    std::error_code ec;
    client own{stage.url(), {}, ec};
    if (ec) return 1;
    mutex same{own, "x"};
    if (same.try_lock(ec) || ec) return 2;  // busy: the parent has it
    mutex z{own, "z"};
    if (!z.try_lock(ec)) return 3;
    return 0;  // and dies holding z
  });
  EXPECT_EQ(failed, 0);
  mutex z{locks, "z"};
  EXPECT_TRUE(z.try_lock_for(5s * slowness));
  expect_untouched(held);
}

// Children that live on must not keep a dead parent's hold alive.
TEST_F(forked, child_that_outlives_its_parent_does_not_hold) {
  actor parent{stage};
  ASSERT_TRUE(parent.acquire("mutex", "z"));
  const pid_t child = static_cast<pid_t>(parent.number("fork"));
  parent.kill();
  mutex z{locks, "z"};
  const auto waited = time_of([&] { EXPECT_TRUE(z.try_lock_for(5s * slowness)); });
  EXPECT_LT(waited, 2s * slowness);
  EXPECT_EQ(::kill(child, 0), 0) << "the child was to live on";
  ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace afar::test
