// Callers of one client that queue for one name: who leaves the line, and who is told.
#include "scripted_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace afar;
using namespace afar::test;
using detail::deadline;

// What came of calls, in the order in which they ended.
class outcomes {
 public:
  // Asks without blocking.
  void start(scripted& s, const std::string& who, deadline by = {}, std::stop_token stop = {}) {
    s.core->start_acquire(s.request(by, std::move(stop)),
                          [this, who](const spi::status& st, hold_ptr h) {
                            const std::lock_guard lock(m_);
                            ended_.push_back(st ? who + ": " + st.code.message() : who);
                            if (h) held_ = std::move(h);
                          });
  }
  std::vector<std::string> ended() {
    const std::lock_guard lock(m_);
    return ended_;
  }
  hold_ptr take() {
    const std::lock_guard lock(m_);
    return std::move(held_);
  }
  bool eventually_ended(std::size_t count) {
    return eventually([&] { return ended().size() == count; });
  }

 private:
  std::mutex m_;
  std::vector<std::string> ended_;
  hold_ptr held_;
};

std::string with(const std::string& who, errc code) {
  return who + ": " + make_error_code(code).message();
}

TEST(local_line, keeps_its_order_when_one_leaves_from_the_front_the_middle_and_the_end) {
  scripted s(30s, 0);
  auto h = s.acquire_granted(1);
  outcomes all;
  std::stop_source stop;
  for (const char* who : {"a", "b", "c", "d", "e"}) {
    const bool leaves = std::string_view{"ace"}.find(*who) != std::string_view::npos;
    all.start(s, who, {}, leaves ? stop.get_token() : std::stop_token{});
  }
  ASSERT_EQ(s.line->waiting(), 5U);
  stop.request_stop();
  ASSERT_TRUE(all.eventually_ended(3));
  EXPECT_EQ(s.line->waiting(), 2U);
  all.start(s, "f");
  for (std::uint64_t token = 2; token < 5; ++token) {
    h->end({});
    s.confirm_release();
    s.grant(token);
    ASSERT_TRUE(all.eventually_ended(token + 2));
    h = all.take();
    ASSERT_NE(h, nullptr);
  }
  auto ended = all.ended();
  std::sort(ended.begin(), ended.begin() + 3);  // stop callbacks run in no order
  EXPECT_EQ(ended, (std::vector<std::string>{with("a", errc::cancelled), with("c", errc::cancelled),
                                             with("e", errc::cancelled), "b", "d", "f"}));
  EXPECT_EQ(s.line->waiting(), 0U);
  end_and_wait(s, h);
}

TEST(local_line, tells_every_try_that_saw_a_release_wherever_it_stands) {
  scripted s(30s, 0);
  auto h = s.acquire_granted(1);
  outcomes all;
  all.start(s, "first");
  h->end({});
  all.start(s, "a try", deadline::no_wait());
  all.start(s, "second");
  all.start(s, "another", deadline::no_wait());
  all.start(s, "third");
  EXPECT_TRUE(all.ended().empty()) << "the release is under way";
  s.confirm_release();
  ASSERT_TRUE(all.eventually_ended(2));
  auto ended = all.ended();
  std::ranges::sort(ended);
  EXPECT_EQ(ended, (std::vector<std::string>{with("a try", errc::timed_out),
                                             with("another", errc::timed_out)}));
  EXPECT_EQ(s.line->waiting(), 2U);
  for (std::uint64_t token = 2; token < 5; ++token) {
    s.grant(token);
    ASSERT_TRUE(all.eventually_ended(token + 1));
    h = all.take();
    ASSERT_NE(h, nullptr);
    h->end({});
    s.confirm_release();
  }
  ended = all.ended();
  EXPECT_EQ((std::vector<std::string>{ended.begin() + 2, ended.end()}),
            (std::vector<std::string>{"first", "second", "third"}));
}

TEST(local_line, is_one_for_a_name_while_it_is_used_however_many_others_come_and_go) {
  scripted s;
  std::vector<std::shared_ptr<detail::local_line>> kept;
  for (int i = 0; i < 5'000; ++i) {
    s.core->line(spi::kind::mutex, "for a moment " + std::to_string(i));
    if (i % 5 == 0) kept.push_back(s.core->line(spi::kind::mutex, std::to_string(i)));
  }
  for (const auto& line : kept) EXPECT_EQ(s.core->line(spi::kind::mutex, line->name()), line);
  EXPECT_NE(s.core->line(spi::kind::fair_mutex, kept.front()->name()), kept.front());
}

// With a second between two looks, ten thousand waiters would look ten thousand times a second.
TEST(local_line, wakes_nobody_but_whose_turn_it_is) {
  scripted s(30s, 0);
  s.engine->traits.poll = 1ms;
  const auto h = s.acquire_granted(1);
  outcomes all;
  all.start(s, "late", deadline::after(100ms));
  all.start(s, "patient");
  ASSERT_TRUE(all.eventually_ended(1));
  EXPECT_EQ(all.ended().front(), with("late", errc::timed_out));
  EXPECT_EQ(s.engine->count(s.engine->acquires), 0U) << "nobody asks while another holds";
  h->end({});
  s.confirm_release();
  s.grant(2);
  ASSERT_TRUE(all.eventually_ended(2));
  const auto next = all.take();
  ASSERT_NE(next, nullptr);
  end_and_wait(s, next);
}

}  // namespace
