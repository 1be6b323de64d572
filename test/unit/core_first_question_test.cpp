// The first question about a claim, which its caller waits for with no operation, and its way to one.
#include "scripted_engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace {

using namespace afar;
using namespace afar::test;

struct outcome {
  hold_ptr hold;
  spi::status status;
};

std::future<outcome> acquire_elsewhere(scripted& s, detail::deadline by = {}) {
  return std::async(std::launch::async, [&s, by] {
    outcome o;
    o.hold = s.core->acquire(s.request(by), o.status);
    return o;
  });
}

TEST(core_first_question, needs_no_second_one_when_its_answer_is_slow) {
  scripted s;
  auto waiting = acquire_elsewhere(s);
  auto asked = s.engine->next(s.engine->acquires);
  const auto long_after = boot_clock::now() + 120ms;  // an operation waits for it by then
  ASSERT_TRUE(eventually([&] { return boot_clock::now() > long_after; }));
  asked.done({}, {.granted = true, .token = 3});
  const auto got = waiting.get();
  ASSERT_NE(got.hold, nullptr);
  EXPECT_EQ(got.hold->token(), 3U);
  EXPECT_EQ(s.engine->count(s.engine->acquires), 0U);
  end_and_wait(s, got.hold);
}

TEST(core_first_question, is_waited_for_as_any_other_when_it_is_refused_late) {
  scripted s;
  auto waiting = acquire_elsewhere(s);
  auto asked = s.engine->next(s.engine->acquires);
  const auto owner = asked.owner;
  const auto long_after = boot_clock::now() + 120ms;
  ASSERT_TRUE(eventually([&] { return boot_clock::now() > long_after; }));
  asked.done({}, {.token = 5, .watch_key = "k"});
  ASSERT_TRUE(eventually([&] { return s.engine->watched == 1; }));
  s.engine->host.granted(owner, 5, 5, 30s);  // no newer than the refusal: asks again
  s.refuse();
  s.engine->host.granted(owner, 6, 6, 30s);
  const auto got = waiting.get();
  ASSERT_NE(got.hold, nullptr);
  EXPECT_EQ(got.hold->token(), 6U);
  end_and_wait(s, got.hold);
}

TEST(core_first_question, is_not_waited_for_longer_than_the_call_may_take) {
  scripted s;
  const auto began = boot_clock::now();
  auto waiting = acquire_elsewhere(s, detail::deadline::after(10ms));
  auto asked = s.engine->next(s.engine->acquires);
  const auto got = waiting.get();
  EXPECT_EQ(got.status.code, errc::timed_out);
  EXPECT_LT(boot_clock::now() - began, 5s);
  asked.done({}, {.granted = true, .token = 3});
  s.confirm_release();  // the late grant goes back
}

TEST(core_first_question, says_closed_to_who_waits_for_it) {
  scripted s;
  auto waiting = acquire_elsewhere(s);
  auto asked = s.engine->next(s.engine->acquires);
  auto closing = std::async(std::launch::async, [&] { s.core->close(); });
  EXPECT_EQ(waiting.get().status.code, errc::closed);
  asked.done({}, {.granted = true, .token = 3});
  s.confirm_release();
  closing.get();
}

// The answer and the end of the caller's time at the same moment, from two threads.
TEST(core_first_question, is_answered_once_however_late_the_answer_comes) {
  scripted s;
  int granted = 0;
  for (int i = 0; i < 200; ++i) {
    auto waiting = acquire_elsewhere(s, detail::deadline::after(1ms));
    auto asked = s.engine->next(s.engine->acquires);
    const auto then = boot_clock::now() + std::chrono::microseconds{10} * i;
    while (boot_clock::now() < then) std::this_thread::yield();
    asked.done({}, {.granted = true, .token = static_cast<std::uint64_t>(i) + 1});
    const auto got = waiting.get();
    if (got.hold) {
      ++granted;
      end_and_wait(s, got.hold);
    } else {
      ASSERT_EQ(got.status.code, errc::timed_out);
      s.confirm_release();
    }
    ASSERT_EQ(s.engine->count(s.engine->acquires), 0U) << "asked again in round " << i;
  }
  EXPECT_GT(granted, 0);
}

// Else the caller would be woken only to sleep again until the lock is free, and who answers many
// would be interrupted twice for each of them.
TEST(core_first_question, wakes_its_caller_with_no_lock_held) {
  scripted s;
  std::atomic<bool> back{false};
  s.engine->on_nudge = [&] { EXPECT_TRUE(eventually([&] { return back.load(); })); };
  hold_ptr got;
  std::jthread caller{[&] {
    spi::status status;
    got = s.core->acquire(s.request({}), status);
    back = true;
  }};
  s.engine->next(s.engine->acquires).done({}, {.granted = true, .token = 3});
  caller.join();
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->token(), 3U);
  s.engine->on_nudge = nullptr;
  end_and_wait(s, got);
}

// The caller leaves at once, and takes the question with it.
TEST(core_first_question, is_left_alone_by_who_answered_it_when_a_try_is_refused) {
  scripted s;
  for (int i = 0; i < 300; ++i) {
    auto trying = acquire_elsewhere(s, detail::deadline::no_wait());
    s.refuse();
    const auto got = trying.get();
    ASSERT_EQ(got.hold, nullptr);
    ASSERT_EQ(got.status.code, errc::timed_out);
  }
}

}  // namespace
