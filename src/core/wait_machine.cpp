#include "core/wait_machine.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <utility>

namespace afar::detail {

namespace {
// "Busy" would be wrong where nobody uses it, and only the message is not yet there that asks for it: 15 ms.
constexpr int most_second_looks = 4;
}  // namespace

bool wait_machine::transient(const std::error_code& code) {
  return code == errc::unknown_outcome || code == errc::unavailable || code == errc::timed_out;
}

wait_machine::time_point wait_machine::later(time_point t, milliseconds d) {
  return t > time_point::max() - d ? time_point::max() : t + d;
}

wait_machine::action wait_machine::begin_attempt() {
  state_ = state::attempting;
  woken_ = false;
  return action::attempt;
}

wait_machine::time_point wait_machine::attempt_by(time_point now) const {
  // An attempt past the deadline is the last try.
  const auto end = now < limits_.deadline ? limits_.deadline : later(now, limits_.grace);
  return std::min(later(now, std::max(limits_.step, limits_.grace)), end);
}

wait_machine::action wait_machine::on_attempt(const spi::status& s, attempted a, time_point now) {
  if (state_ != state::attempting) return action::none;
  if (reported_) {
    state_ = state::withdrawing;
    return action::withdraw;
  }
  if (s) return failed(s, now);
  failing_since_.reset();
  pause_ = milliseconds{0};
  if (a.done) return finish({});
  return refused(std::move(a), now);
}

wait_machine::action wait_machine::failed(const spi::status& s, time_point now) {
  if (!transient(s.code)) return give_up(s, now);
  no_answer_ = s.code != errc::unavailable;
  failure_ = s.code == errc::timed_out ? spi::status{errc::unavailable, s.detail} : s;
  if (!failing_since_) failing_since_ = now;
  if (now >= limits_.deadline) return give_up(too_late(now), now);
  if (now - *failing_since_ >= limits_.patience) return give_up(failure_, now);
  retry_at_ = later(now, pause_);
  // The first repetition follows at once: most failures are a single lost answer.
  pause_ = std::min(std::max(pause_ * 2, milliseconds{1}), milliseconds{500});
  if (retry_at_ <= now) return begin_attempt();
  state_ = state::asleep;
  return action::sleep;
}

wait_machine::action wait_machine::refused(attempted a, time_point now) {
  refused_ = true;
  if (!limits_.waits) {
    if (!a.asked || second_looks_ == most_second_looks) return give_up(errc::timed_out, now);
    retry_at_ = later(now, milliseconds{1 << second_looks_++});
    return sleep();
  }
  if (now >= limits_.deadline) return give_up(errc::timed_out, now);
  retry_at_ = later(now, std::min(a.retry_after.value_or(limits_.poll), limits_.poll));
  if (a.wake_is_sure) retry_at_ = time_point::max();
  if (AFAR_MUTANT("core.poll.off")) retry_at_ = limits_.deadline;
  if (a.watch_key.str() == watch_key_) return sleep();
  watch_key_ = a.watch_key.str();
  state_ = state::watching;
  return action::watch;
}

wait_machine::action wait_machine::on_watch(const spi::status& s, bool recheck, time_point now) {
  if (state_ != state::watching) return action::none;
  if (reported_) {
    state_ = state::withdrawing;
    return action::withdraw;
  }
  // Another try would end after the time that is promised.
  if (now >= limits_.deadline) return give_up(too_late(now), now);
  if (s) {
    // Without a watch nothing wakes us: look more often, and try to watch again next time.
    watch_key_.clear();
    retry_at_ = std::min(retry_at_, later(now, milliseconds{20}));
    return sleep();
  }
  return recheck && !AFAR_MUTANT("core.watch.no_second_look") ? begin_attempt() : sleep();
}

wait_machine::action wait_machine::sleep() {
  if (woken_) return begin_attempt();
  state_ = state::asleep;
  return action::sleep;
}

wait_machine::action wait_machine::on_wake() {
  if (state_ == state::asleep) return begin_attempt();
  woken_ = true;
  return action::none;
}

wait_machine::action wait_machine::on_timer(time_point now) {
  if (now < wake_at()) return action::none;
  if (state_ == state::asleep) {
    if (now < limits_.deadline) return begin_attempt();
    if (std::exchange(last_try_, true)) return give_up(too_late(now), now);
    give_up_at_ = later(now, limits_.grace);  // whole, also for a thread that woke up late
    return begin_attempt();
  }
  if (reported_ || state_ == state::over) return action::none;
  if (state_ == state::withdrawing) return report(result_);
  return report(too_late(now));
}

wait_machine::action wait_machine::on_stop(errc why, time_point now) {
  if (reported_ || state_ == state::over || state_ == state::withdrawing) return action::none;
  if (state_ == state::asleep || state_ == state::idle) return give_up(why, now);
  return report(why);
}

bool wait_machine::takes_grant() const {
  return !reported_ && (state_ == state::asleep || state_ == state::watching);
}

wait_machine::action wait_machine::on_granted() { return takes_grant() ? finish({}) : on_wake(); }

wait_machine::action wait_machine::on_withdrawn() {
  return state_ == state::withdrawing ? finish(result_) : action::none;
}

// A wait that was too short for an answer, or was answered until a moment ago, has timed out.
spi::status wait_machine::too_late(time_point now) const {
  if (!failing_since_) return errc::timed_out;
  const bool just_failed = limits_.waits && now < later(*failing_since_, limits_.grace);
  if (just_failed && (refused_ || no_answer_)) return errc::timed_out;
  return failure_;
}

wait_machine::action wait_machine::give_up(spi::status why, time_point now) {
  result_ = std::move(why);
  state_ = state::withdrawing;
  give_up_at_ = later(now, limits_.grace);
  return action::withdraw;
}

wait_machine::action wait_machine::finish(spi::status s) {
  result_ = std::move(s);
  state_ = state::over;
  return action::finish;
}

wait_machine::action wait_machine::report(spi::status s) {
  result_ = std::move(s);
  reported_ = true;
  return action::report;
}

wait_machine::time_point wait_machine::wake_at() const {
  switch (state_) {
    case state::asleep:
      return std::min(limits_.deadline, retry_at_);
    case state::attempting:
    case state::watching:
      if (reported_) return time_point::max();
      return last_try_ ? give_up_at_ : later(limits_.deadline, limits_.grace);
    case state::withdrawing:
      return reported_ ? time_point::max() : give_up_at_;
    case state::idle:
    case state::over:
      break;
  }
  return time_point::max();
}

}  // namespace afar::detail
