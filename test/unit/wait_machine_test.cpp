// Every interleaving of a wait, with a clock of the test's own.
#include "core/wait_machine.hpp"

#include <gtest/gtest.h>

using namespace std::chrono_literals;
using afar::errc;
using afar::detail::wait_machine;
using action = wait_machine::action;

namespace {

const auto t0 = afar::spi::time_point{} + 1h;

wait_machine::attempted refused(std::string key = "k",
                                std::optional<std::chrono::milliseconds> retry = {}) {
  return {.watch_key = std::move(key), .retry_after = retry};
}
const wait_machine::attempted granted{.done = true};

wait_machine waiting(wait_machine::time_point deadline = t0 + 100ms) {
  return wait_machine{{.deadline = deadline, .patience = 10s}};
}
wait_machine trying() { return wait_machine{{.deadline = t0 + 5s, .waits = false}}; }

// A machine that was refused, watches and sleeps.
wait_machine asleep(wait_machine::time_point deadline = t0 + 100ms) {
  auto m = waiting(deadline);
  m.start();
  m.on_attempt({}, refused(), t0);
  m.on_watch({}, false, t0);
  return m;
}

TEST(wait_machine, finishes_when_the_first_attempt_is_granted) {
  auto m = waiting();
  EXPECT_EQ(m.start(), action::attempt);
  EXPECT_EQ(m.on_attempt({}, granted, t0), action::finish);
  EXPECT_FALSE(m.result());
}

TEST(wait_machine, does_not_wait_when_told_so) {
  auto m = trying();
  m.start();
  EXPECT_EQ(m.on_attempt({}, refused(), t0), action::withdraw);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
  EXPECT_EQ(m.result().code, errc::timed_out);
}

TEST(wait_machine, looks_a_few_times_more_when_the_holder_was_asked_for_it) {
  auto m = trying();
  m.start();
  auto asked = refused();
  asked.asked = true;
  auto now = t0;
  for (const auto pause : {1ms, 2ms, 4ms, 8ms}) {
    EXPECT_EQ(m.on_attempt({}, asked, now), action::sleep);
    EXPECT_EQ(m.wake_at(), now + pause);
    now += pause;
    EXPECT_EQ(m.on_timer(now), action::attempt);
  }
  EXPECT_EQ(m.on_attempt({}, asked, now), action::withdraw);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
  EXPECT_EQ(m.result().code, errc::timed_out);
}

TEST(wait_machine, watches_before_it_sleeps) {
  auto m = waiting();
  m.start();
  EXPECT_EQ(m.on_attempt({}, refused("key"), t0), action::watch);
  EXPECT_EQ(m.watch_key(), "key");
  EXPECT_EQ(m.on_watch({}, false, t0), action::sleep);
}

TEST(wait_machine, looks_once_more_when_the_watch_may_have_come_too_late) {
  auto m = waiting();
  m.start();
  m.on_attempt({}, refused(), t0);
  EXPECT_EQ(m.on_watch({}, true, t0), action::attempt);
  EXPECT_EQ(m.on_attempt({}, refused(), t0), action::sleep) << "it watches that key already";
}

TEST(wait_machine, remembers_a_wake_that_arrives_during_an_attempt) {
  auto m = asleep();
  EXPECT_EQ(m.on_wake(), action::attempt);
  EXPECT_EQ(m.on_wake(), action::none);
  EXPECT_EQ(m.on_attempt({}, refused(), t0), action::attempt);
  EXPECT_EQ(m.on_attempt({}, refused(), t0), action::sleep);
}

TEST(wait_machine, remembers_a_wake_that_arrives_while_it_starts_to_watch) {
  auto m = waiting();
  m.start();
  m.on_attempt({}, refused(), t0);
  EXPECT_EQ(m.on_wake(), action::none);
  EXPECT_EQ(m.on_watch({}, false, t0), action::attempt);
}

TEST(wait_machine, tries_once_more_when_the_deadline_passes_asleep) {
  auto m = asleep();
  EXPECT_EQ(m.wake_at(), t0 + 100ms);
  EXPECT_EQ(m.on_timer(t0 + 100ms), action::attempt);
  EXPECT_EQ(m.attempt_by(t0 + 100ms), t0 + 140ms);
  EXPECT_EQ(m.on_attempt({}, refused(), t0 + 100ms), action::withdraw);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
  EXPECT_EQ(m.result().code, errc::timed_out);
}

TEST(wait_machine, gives_the_last_try_its_whole_grace_when_it_woke_up_late) {
  auto m = asleep();
  const auto late = t0 + 5s;
  EXPECT_EQ(m.on_timer(late), action::attempt);
  EXPECT_EQ(m.wake_at(), late + 40ms);
  EXPECT_EQ(m.on_timer(late + 30ms), action::none);
  EXPECT_EQ(m.on_attempt({}, refused(), late + 35ms), action::withdraw);
  EXPECT_EQ(m.wake_at(), late + 75ms);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
  EXPECT_EQ(m.result().code, errc::timed_out);
}

TEST(wait_machine, attempts_again_by_the_time_that_the_engine_named) {
  auto m = waiting(t0 + 10s);
  m.start();
  m.on_attempt({}, refused("k", 20ms), t0);
  m.on_watch({}, false, t0);
  EXPECT_EQ(m.wake_at(), t0 + 20ms);
  EXPECT_EQ(m.on_timer(t0 + 19ms), action::none);
  EXPECT_EQ(m.on_timer(t0 + 20ms), action::attempt);
}

TEST(wait_machine, never_sleeps_longer_than_the_poll_ceiling) {
  auto m = waiting(t0 + 1h);
  m.start();
  m.on_attempt({}, refused("k", 10min), t0);
  m.on_watch({}, false, t0);
  EXPECT_EQ(m.wake_at(), t0 + 1s);
}

TEST(wait_machine, does_not_look_while_the_wake_is_sure_to_come) {
  auto m = waiting(t0 + 1h);
  m.start();
  EXPECT_EQ(m.on_attempt({}, {.wake_is_sure = true}, t0), action::sleep);
  EXPECT_EQ(m.wake_at(), t0 + 1h) << "the deadline counts all the same";
  EXPECT_EQ(m.on_timer(t0 + 10s), action::none);
  EXPECT_EQ(m.on_wake(), action::attempt);
}

TEST(wait_machine, polls_quickly_when_it_cannot_watch) {
  auto m = waiting(t0 + 10s);
  m.start();
  m.on_attempt({}, refused(), t0);
  EXPECT_EQ(m.on_watch(errc::unavailable, false, t0), action::sleep);
  EXPECT_EQ(m.wake_at(), t0 + 20ms);
  EXPECT_EQ(m.on_timer(t0 + 20ms), action::attempt);
  EXPECT_EQ(m.on_attempt({}, refused(), t0 + 20ms), action::watch) << "it tries to watch again";
}

TEST(wait_machine, withdraws_when_stopped_asleep) {
  auto m = asleep();
  EXPECT_EQ(m.on_stop(errc::cancelled, t0), action::withdraw);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
  EXPECT_EQ(m.result().code, errc::cancelled);
}

TEST(wait_machine, reports_at_once_when_stopped_during_an_attempt_and_withdraws_later) {
  auto m = waiting();
  m.start();
  EXPECT_EQ(m.on_stop(errc::cancelled, t0), action::report);
  EXPECT_EQ(m.result().code, errc::cancelled);
  EXPECT_EQ(m.on_attempt({}, granted, t0), action::withdraw) << "a late grant is given back";
  EXPECT_EQ(m.on_withdrawn(), action::finish);
}

TEST(wait_machine, reports_when_the_deadline_passes_during_an_attempt) {
  auto m = waiting();
  m.start();
  EXPECT_EQ(m.wake_at(), t0 + 140ms);
  EXPECT_EQ(m.on_timer(t0 + 139ms), action::none);
  EXPECT_EQ(m.on_timer(t0 + 140ms), action::report);
  EXPECT_EQ(m.result().code, errc::timed_out);
  EXPECT_EQ(m.wake_at(), wait_machine::time_point::max());
  EXPECT_EQ(m.on_attempt(errc::unknown_outcome, {}, t0 + 1s), action::withdraw);
}

TEST(wait_machine, reports_when_withdrawing_takes_too_long) {
  auto m = asleep();
  m.on_stop(errc::cancelled, t0);
  EXPECT_EQ(m.wake_at(), t0 + 40ms);
  EXPECT_EQ(m.on_timer(t0 + 40ms), action::report);
  EXPECT_EQ(m.result().code, errc::cancelled);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
}

TEST(wait_machine, withdraws_after_a_watch_that_was_abandoned) {
  auto m = waiting();
  m.start();
  m.on_attempt({}, refused(), t0);
  EXPECT_EQ(m.on_stop(errc::closed, t0), action::report);
  EXPECT_EQ(m.on_watch({}, false, t0), action::withdraw);
}

TEST(wait_machine, repeats_at_once_after_one_lost_answer) {
  auto m = trying();
  m.start();
  EXPECT_EQ(m.on_attempt(errc::unknown_outcome, {}, t0), action::attempt);
  EXPECT_EQ(m.on_attempt({}, granted, t0), action::finish);
}

TEST(wait_machine, backs_off_while_the_engine_is_away) {
  auto m = waiting(t0 + 1h);
  m.start();
  EXPECT_EQ(m.on_attempt(errc::unavailable, {}, t0), action::attempt);
  auto now = t0;
  std::chrono::nanoseconds before{0};
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(m.on_attempt(errc::unavailable, {}, now), action::sleep);
    EXPECT_GT(m.wake_at() - now, before);
    before = m.wake_at() - now;
    now = m.wake_at();
    ASSERT_EQ(m.on_timer(now), action::attempt);
  }
}

TEST(wait_machine, gives_up_with_the_failure_when_patience_is_over) {
  auto m = waiting(t0 + 1h);
  m.start();
  m.on_attempt({errc::unavailable, "nobody there"}, {}, t0);
  EXPECT_EQ(m.on_attempt({errc::unavailable, "nobody there"}, {}, t0 + 10s), action::withdraw);
  EXPECT_EQ(m.result().code, errc::unavailable);
  EXPECT_EQ(m.result().detail.str(), "nobody there");
}

TEST(wait_machine, says_what_failed_rather_than_timed_out) {
  auto m = waiting();
  m.start();
  EXPECT_EQ(m.on_attempt({errc::unavailable, "process 7 is stopped"}, {}, t0 + 100ms),
            action::withdraw);
  EXPECT_EQ(m.result().code, errc::unavailable);
}

TEST(wait_machine, has_timed_out_if_its_time_was_too_short_for_an_answer) {
  for (const auto code : {errc::timed_out, errc::unknown_outcome}) {
    auto m = waiting(t0 + 1ms);
    m.start();
    EXPECT_EQ(m.on_attempt(code, {}, t0 + 1ms), action::withdraw);
    EXPECT_EQ(m.result().code, errc::timed_out);
  }
  auto unreachable = waiting(t0 + 1ms);
  unreachable.start();
  unreachable.on_attempt(errc::unavailable, {}, t0 + 1ms);
  EXPECT_EQ(unreachable.result().code, errc::unavailable);
}

TEST(wait_machine, does_not_say_busy_when_a_try_had_no_answer) {
  auto m = trying();
  m.start();
  m.on_attempt({errc::timed_out, "process 7 did not leave"}, {}, t0 + 5s);
  EXPECT_EQ(m.result().code, errc::unavailable);
  EXPECT_EQ(m.result().detail.str(), "process 7 did not leave");
}

TEST(wait_machine, has_timed_out_if_it_was_refused_and_only_the_last_try_failed) {
  auto m = asleep();
  EXPECT_EQ(m.on_timer(t0 + 100ms), action::attempt);
  EXPECT_EQ(m.on_attempt(errc::unknown_outcome, {}, t0 + 100ms), action::withdraw);
  EXPECT_EQ(m.result().code, errc::timed_out);
}

// It was refused before the deadline; another try with its own grace would end 117 ms after it.
TEST(wait_machine, makes_no_further_try_when_the_watch_is_answered_after_the_deadline) {
  for (const bool recheck : {false, true}) {
    auto m = waiting();
    m.start();
    m.on_attempt({}, refused(), t0);
    EXPECT_EQ(m.on_watch({}, recheck, t0 + 137ms), action::withdraw);
    EXPECT_EQ(m.wake_at(), t0 + 177ms);
    EXPECT_EQ(m.on_withdrawn(), action::finish);
    EXPECT_EQ(m.result().code, errc::timed_out);
  }
}

TEST(wait_machine, forgets_earlier_failures_once_it_is_answered) {
  auto m = waiting(t0 + 1h);
  m.start();
  m.on_attempt(errc::unavailable, {}, t0);
  m.on_attempt({}, refused(), t0 + 9s);
  m.on_watch({}, true, t0 + 9s);
  EXPECT_EQ(m.on_attempt(errc::unavailable, {}, t0 + 15s), action::attempt);
}

TEST(wait_machine, ends_with_an_error_that_repeating_cannot_mend) {
  auto m = waiting();
  m.start();
  EXPECT_EQ(m.on_attempt({errc::wrong_use, "is a stock"}, {}, t0), action::withdraw);
  EXPECT_EQ(m.on_withdrawn(), action::finish);
  EXPECT_EQ(m.result().code, errc::wrong_use);
}

TEST(wait_machine, believes_a_pushed_grant_asleep_or_watching) {
  auto m = asleep();
  EXPECT_EQ(m.on_granted(), action::finish);
  auto w = waiting();
  w.start();
  w.on_attempt({}, refused(), t0);
  EXPECT_EQ(w.on_granted(), action::finish);
}

TEST(wait_machine, ignores_everything_after_its_end) {
  auto m = waiting();
  m.start();
  m.on_attempt({}, granted, t0);
  EXPECT_EQ(m.on_wake(), action::none);
  EXPECT_EQ(m.on_timer(t0 + 1h), action::none);
  EXPECT_EQ(m.on_stop(errc::cancelled, t0), action::none);
  EXPECT_EQ(m.on_watch({}, true, t0), action::none);
  EXPECT_EQ(m.on_attempt({}, granted, t0), action::none);
  EXPECT_EQ(m.on_withdrawn(), action::none);
}

TEST(wait_machine, waits_for_ever_without_overflow) {
  auto m = asleep(wait_machine::time_point::max());
  EXPECT_EQ(m.wake_at(), t0 + 1s);
  m.on_timer(t0 + 1s);
  EXPECT_EQ(m.wake_at(), wait_machine::time_point::max());
  EXPECT_EQ(m.attempt_by(t0), t0 + 10s);
}

}  // namespace
