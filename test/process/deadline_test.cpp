// Every timed call ends in time although another process is stopped in the middle of a transaction,
// where it blocks everybody who wants to write; the error says who it is.
#include "actor.hpp"
#include "scene.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace afar::test {
namespace {

class deadline : public ::testing::Test {
 protected:
  void SetUp() override {
    blocker.arm("embedded.acquire.before_commit:stop");
    blocker.send_acquire("mutex", "x");
    ASSERT_TRUE(blocker.stops());
  }

  // Runs a call that may take `time`. It may say that it did not get it without or with a proper
  // error; it may even get it, if it does not share the blocker's part of the store.
  void expect_in_time(const char* what, const std::function<bool(milliseconds)>& call) {
    for (const milliseconds time : {20ms, 150ms}) {
      std::error_code code;
      const auto took = time_of([&] { code = thrown_by([&] { call(time); }); });
      EXPECT_TRUE(!code || code == errc::timed_out || code == errc::unavailable)
          << what << ": " << code.message();
      const nanoseconds over = took - time;
      EXPECT_LT(over, 400ms * slowness) << what;
      if (over > most_) most_ = over, worst_ = what;
    }
  }

  void expect_all_goes_on() {
    blocker.resume();
    EXPECT_TRUE(blocker.receive_grant());
    EXPECT_EQ(blocker.ask("release"), "0");
    mutex x{locks, "x"};
    EXPECT_TRUE(x.try_lock_for(10s));
  }

  scene stage;
  actor blocker{stage};
  client locks = stage.client();
  nanoseconds most_{};
  const char* worst_ = "";
};

TEST_F(deadline, is_kept_by_every_timed_call) {
  expect_in_time("mutex", [&](auto d) { return mutex{locks, "x"}.try_lock_for(d); });
  expect_in_time("mutex::try_acquire_until", [&](auto d) {
    return static_cast<bool>(
        mutex{locks, "x"}.try_acquire_until(std::chrono::steady_clock::now() + d));
  });
  expect_in_time("fair_mutex", [&](auto d) { return fair_mutex{locks, "x"}.try_lock_for(d); });
  expect_in_time("recursive_mutex",
                 [&](auto d) { return recursive_mutex{locks, "x"}.try_lock_for(d); });
  expect_in_time("shared_mutex",
                 [&](auto d) { return shared_mutex{locks, "x"}.try_lock_shared_for(d); });
  expect_in_time("leased_semaphore", [&](auto d) {
    return static_cast<bool>(leased_semaphore{locks, "x", 1}.try_acquire_for(d));
  });
  expect_in_time("election", [&](auto d) {
    return static_cast<bool>(election{locks, "x"}.try_campaign_for(d));
  });
  expect_in_time("barrier", [&](auto d) { return barrier{locks, "x", 2}.arrive_and_wait_for(d); });
  expect_in_time("multi_lock", [&](auto d) {
    mutex one{locks, "x"};
    mutex two{locks, "y"};
    mutex three{locks, "z"};
    return multi_lock{one, two, three}.try_lock_for(d);
  });
  expect_in_time("latch", [&](auto d) { return latch{locks, "x", 1}.wait_for(d); });
  expect_in_time("counting_semaphore",
                 [&](auto d) { return counting_semaphore<>{locks, "x", 0}.try_acquire_for(d); });
  expect_in_time("counter", [&](auto d) { return counter{locks, "x"}.wait_for(0, d).has_value(); });
  std::printf("latest return: %.1f ms after its time (%s)\n",
              static_cast<double>(most_.count()) / 1e6, worst_);
  expect_all_goes_on();
}

TEST_F(deadline, of_a_stop_token_is_kept_too) {
  std::stop_source source;
  mutex x{locks, "x"};
  std::jthread canceller{[&] {
    hold_still(100ms);
    source.request_stop();
  }};
  std::error_code ec;
  const auto took = time_of([&] { const hold none = x.acquire({.stop = source.get_token()}, ec); });
  EXPECT_EQ(ec, errc::cancelled);
  EXPECT_LT(took, 100ms + 400ms * slowness);
  expect_all_goes_on();
}

TEST_F(deadline, of_waits_without_a_limit_is_the_clients_patience) {
  client impatient = stage.client({.patience = 300ms});
  const std::pair<const char*, std::function<void()>> waits[] = {
      {"mutex", [&] { mutex{impatient, "x"}.lock(); }},
      {"barrier", [&] { barrier{impatient, "x", 2}.arrive_and_wait(); }},
      {"latch", [&] { latch{impatient, "x", 1}.wait(); }},
      {"counter", [&] { counter{impatient, "x"}.wait(0); }},
      {"counting_semaphore", [&] { counting_semaphore<>{impatient, "x", 0}.acquire(); }}};
  std::vector<std::future<std::error_code>> ends;
  for (const auto& [what, wait] : waits) {
    ends.push_back(start([&wait] { return thrown_by(wait); }));
    EXPECT_EQ(ends.back().wait_for(300ms + 700ms * slowness), std::future_status::ready) << what;
  }
  expect_all_goes_on();
  impatient.close();  // ends those that have not ended by themselves
  for (auto& end : ends) EXPECT_EQ(end.get(), errc::unavailable);
}

// It tries all of its locks first, and took the failure of a try for the last word.
TEST_F(deadline, multi_lock_waits_for_a_process_that_stands_still_for_a_while) {
  mutex one{locks, "x"};
  mutex two{locks, "y"};
  multi_lock both{one, two};
  auto locked = start([&] { return thrown_by([&] { both.lock(); }); });
  EXPECT_EQ(locked.wait_for(300ms), std::future_status::timeout);
  blocker.resume();
  EXPECT_TRUE(blocker.receive_grant());
  EXPECT_EQ(blocker.ask("release"), "0");
  EXPECT_FALSE(locked.get());
  EXPECT_TRUE(both.valid());
  both.unlock();
}

TEST_F(deadline, multi_lock_is_too_late_if_its_time_ends_before_an_answer) {
  mutex one{locks, "x"};
  mutex two{locks, "y"};
  multi_lock both{one, two};
  EXPECT_FALSE(both.try_lock_for(20ms)) << "and throws nothing: perhaps it would have answered";
  std::error_code ec;
  EXPECT_FALSE(both.try_lock_for(20ms, ec));
  EXPECT_EQ(ec, errc::timed_out);
  expect_all_goes_on();
}

TEST_F(deadline, error_names_the_process_that_is_in_the_way) {
  const client impatient = stage.client({.patience = 300ms});
  mutex x{impatient, "x"};
  const failure why = failure_of([&] { x.lock(); });
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_NE(why.message.find(std::to_string(blocker.pid())), std::string::npos) << why.message;
  EXPECT_EQ(why.resource, "x");
  expect_all_goes_on();
}

TEST_F(deadline, is_kept_although_the_stopped_process_is_killed_then) {
  blocker.kill();
  mutex x{locks, "x"};
  EXPECT_TRUE(x.try_lock_for(10s));
}

}  // namespace
}  // namespace afar::test
