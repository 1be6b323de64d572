#include "core/claim_op.hpp"

#include <afar/spi/coming_to_drive.hpp>

#include <utility>

namespace afar::detail {

claim_op::claim_op(std::shared_ptr<core> c, const wait_machine::limits& l, claim_request r,
                   hold_ptr state, std::optional<spi::time_point> asked_at, core::acquired done)
    : wait_op(std::move(c), l, std::move(r.stop)),
      request_(std::move(r)),
      lines_up_(line().lines_up(request_.mode)),
      waits_(request_.by.waits),
      state_(std::move(state)),
      done_(std::move(done)),
      sent_(asked_at.value_or(spi::time_point{})),
      left_behind_(asked_at.has_value()),
      asked_(asked_at.has_value()),
      turn_(asked_at ? turn::mine : turn::none) {}

void claim_op::refused_before(std::uint64_t token) noexcept {
  count_wait();
  refused_token_ = token;
  refused_sent_ = sent_;
}

wait_machine::limits claim_op::limits_of(const core& c, const deadline& by) {
  wait_machine::limits l;
  l.waits = by.waits;
  l.deadline = by.waits ? by.at : std::min(by.at, boot_clock::now() + c.about().try_time);
  l.poll = c.about().poll;
  l.patience = c.options().patience;
  // A step that is made on the waiting thread must not keep it from hearing a stop token.
  l.step = c.about().inline_steps ? c.about().try_time : l.patience;
  return l;
}

void claim_op::attempt(spi::time_point by) {
  if (lines_up_) {
    const auto place = line().enter(shared());
    behind_release_ = place == local_line::place::held_up;
    if (place == local_line::place::held_up && !waits_) {
      // "Busy" would be wrong: what is in the way is our own lock, already given up.
      held_up_ = by;
      return;
    }
    if (place != local_line::place::mine) {
      count_wait();
      return answered({}, {.wake_is_sure = true});  // turn_came()
    }
  }
  if (handed_) {
    state_ = std::move(handed_);
    left_behind_ = true;  // it was given up meanwhile? Then the hold has to be released
    granted_ = true;
    return answered({}, {.done = true});
  }
  if (!state_)
    state_ = std::make_shared<hold_state>(owner().shared_from_this(), request_, *request_.lease);
  if (lines_up_) state_->stand_for_line();
  ask_engine(by);
}

bool claim_op::resume() {
  if (!held_up_) return false;
  attempt(*std::exchange(held_up_, std::nullopt));
  return true;
}

void claim_op::ask_engine(spi::time_point by) {
  left_behind_ = true;
  sent_ = boot_clock::now();
  counters::up(owner().stats().steps);
  if (!std::exchange(asked_, true) && owner().observed())
    owner().tell({.what = afar::event::kind::asking, .name = line().name(), .at = sent_});
  const spi::coming_to_drive soon{blocks()};
  owner().engine().acquire(state_->ready_to_ask(), by,
                           [self = shared()](spi::status s, spi::acquire_reply r) {
                             self->replied(std::move(s), std::move(r));
                           });
}

void claim_op::replied(spi::status s, spi::acquire_reply r) {
  if (s) {
    left_behind_ = left_behind_ && wait_machine::transient(s.code);
    return answered(std::move(s), {});
  }
  if (!r.granted) {
    left_behind_ = waits_;
    refused_before(r.token);
    return answered(
        {}, {.watch_key = std::move(r.watch_key), .retry_after = r.retry_after, .asked = r.asked});
  }
  // A grant that took longer than its lease is none: asking again renews it.
  granted_ = state_->begin(r, sent_, refused_sent_ != spi::time_point{});
  if (granted_) return answered({}, {.done = true});
  answered(errc::unknown_outcome, {});
}

bool claim_op::adopt(std::uint64_t token, std::uint64_t last_token,
                     std::chrono::milliseconds lease) {
  if (granted_ || token <= refused_token_) return false;
  // Nothing would make it as long as it was asked for: the engine is asked for the rest.
  if (!state_->renews() && lease < state_->lease()) return false;
  granted_ = state_->begin({.granted = true,
                            .token = token,
                            .last_token = last_token,
                            .lease = std::min(lease, state_->lease())},
                           refused_sent_, true);  // a later question may never have arrived
  return granted_;
}

// What was pushed before is found by the watch that follows.
void claim_op::before_watch() {
  if (!owner().about().pushes_grants || expected_) return;
  expected_ = state_->claim().owner;
  owner().expect_grant(*expected_, shared_from_this());
}

// When the wait begins, not when it ends: who looks at the statistics wants to see it.
void claim_op::count_wait() noexcept {
  if (waits_ && !std::exchange(waited_, true)) counters::up(owner().stats().waited);
}

void claim_op::withdraw() {
  if (lines_up_ && line().remove(*this)) return withdrawn();
  // It stands for the line, perhaps since a moment ago.
  if (handed_) {
    state_ = std::move(handed_);
    left_behind_ = true;
  }
  if (!left_behind_) {
    if (lines_up_) line().leave();
    return withdrawn();
  }
  state_->end([self = shared_from_this(), this](const spi::status&) { withdrawn(); });
}

void claim_op::report(const spi::status& s) {
  auto& stats = owner().stats();
  if (expected_) owner().forget_grant(*expected_);
  if (s.code == errc::timed_out) counters::up(stats.timed_out);
  if (s.code == errc::cancelled) counters::up(stats.cancelled);
  if (owner().observed()) {
    const auto now = boot_clock::now();
    owner().tell({.what = s ? afar::event::kind::refused : afar::event::kind::acquired,
                  .name = line().name(),
                  .token = s ? 0 : state_->token(),
                  .at = now,
                  .waited = now - began_,
                  .lease = *request_.lease,
                  .code = s.code});
  }
  if (!s) {
    counters::up(stats.acquired);
    return done_({}, std::move(state_));
  }
  done_(s, nullptr);
}

}  // namespace afar::detail
