#include "core/hold_state.hpp"

#include "core/claim_op.hpp"
#include "core/core.hpp"
#include "core/first_question.hpp"
#include "core/notifier.hpp"
#include "core/timers.hpp"
#include "core/wait_machine.hpp"

#include <afar/detail/fault.hpp>
#include <afar/spi/coming_to_drive.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace afar::detail {

namespace {

using namespace std::chrono_literals;

loss_reason reason_of(spi::loss l) noexcept { return static_cast<loss_reason>(l); }
static_assert(static_cast<int>(loss_reason::closed) == static_cast<int>(spi::loss::closed));

}  // namespace

hold_state::hold_state(std::shared_ptr<core> c, const claim_request& r, milliseconds lease)
    : core_(std::move(c)),
      line_(r.line),
      renew_(r.renew == renewal::automatic),
      lease_(lease),
      pace_(lease.count()),
      note_(r.note),
      end_answer_(*core_) {
  claim_.what = line_->what();
  claim_.owner = core_->new_owner();
  claim_.mode = r.mode;
  claim_.permits = r.permits;
  claim_.limit = r.limit;
  claim_.lease = lease;
  claim_.queue = r.by.waits;
  claim_.note = note_.empty() ? std::string_view(core_->options().note) : std::string_view(note_);
}

spi::claim& hold_state::ready_to_ask() noexcept {
  const bool hands = line_->kind() == spi::kind::mutex || line_->kind() == spi::kind::shared_mutex;
  if (hands && line_->lines_up(claim_.mode) && line_->contended())
    claim_.handoffs = std::min(core_->options().handoff, core_->about().token_block);
  choose_linger();
  return claim_;
}

void hold_state::ask_first(first_question& q, time_point by) {
  asked_first_ = &q;  // nobody else knows of it yet
  q.wait_at(asker_);
  const spi::coming_to_drive soon;
  core_->engine().acquire(ready_to_ask(), by,
                          [self = shared_from_this()](spi::status s, spi::acquire_reply r) {
                            self->first_answered(std::move(s), std::move(r));
                          });
}

void hold_state::first_answered(spi::status s, spi::acquire_reply r) {
  std::unique_lock lock(m_);
  if (const auto op = std::move(passed_on_to_)) {
    lock.unlock();
    return op->replied(std::move(s), std::move(r));
  }
  const bool sleeps = asked_first_->answer(std::move(s), std::move(r));
  lock.unlock();
  if (!sleeps) return;
  asker_.notify();  // not the question's: that may be over already
  core_->engine().nudge();
}

bool hold_state::pass_on(const std::shared_ptr<claim_op>& op) {
  const std::lock_guard lock(m_);
  if (asked_first_->ready()) return false;
  passed_on_to_ = op;
  return true;
}

hold_state::~hold_state() {
  if (!core_->forked()) forget_asks();
  // Every holder ends its hold; this is for a hold that never reached one.
  if (held() && !core_->forked()) core_->renewals().leave(*this);
}

// For how long what the engine has granted by a request of `sent` counts, and how often it is renewed.
hold_state::time_point hold_state::lasts_until(milliseconds granted, time_point sent) noexcept {
  if (granted <= 0ms) granted = lease_;
  // Few different ones: the watchdog has a list for each.
  const auto pace = granted < lease_ ? std::bit_floor(static_cast<std::uint64_t>(granted.count()))
                                     : static_cast<std::uint64_t>(lease_.count());
  pace_.store(static_cast<milliseconds::rep>(pace), std::memory_order_relaxed);
  return sent + granted - core_->options().margin_of(granted);
}

bool hold_state::begin(const spi::acquire_reply& r, time_point sent, bool waited) {
  if (AFAR_MUTANT("core.lease.from_reply")) sent = boot_clock::now();
  AFAR_FAULT("core.acquire.answered");
  const auto until = lasts_until(r.lease, sent);
  if (boot_clock::now() >= until) return false;
  {
    const std::lock_guard lock(m_);
    token_.store(r.token, std::memory_order_relaxed);
    last_token_ = std::max(r.token, r.last_token);
    claim_.token = r.token;
    granted_at_ = sent;
    keeps_ = claim_.linger > 0ms && !waited;
    valid_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
    phase_.store(phase::held, std::memory_order_release);
  }
  core_->renewals().enter(*this, sent);
  AFAR_FAULT("core.acquire.published");
  return true;
}

bool hold_state::like(const claim_request& r) const noexcept {
  return lease_ == *r.lease && renew_ == (r.renew == renewal::automatic) && note_.empty() &&
         r.note.empty();
}

bool hold_state::try_hand_on() noexcept {
  const auto now = boot_clock::now();
  const std::lock_guard lock(m_);
  const auto next = token_.load(std::memory_order_relaxed) + 1;
  if (!held() || over_.load(std::memory_order_relaxed) || next > last_token_) return false;
  if (hands_ >= std::min(claim_.handoffs, core_->options().handoff)) return false;
  if (now - granted_at_ > core_->options().streak || now + pace() / 3 > valid_until()) return false;
  if (why() != loss_reason::none) return false;  // somebody has asked for it
  ++hands_;
  token_.store(next, std::memory_order_release);
  lost_.reset();
  return true;
}

bool hold_state::begin_step() noexcept {
  const std::lock_guard lock(m_);
  return !std::exchange(renewing_, true);
}

void hold_state::converted(spi::access to, const spi::acquire_reply& r, time_point sent) {
  const std::lock_guard lock(m_);
  renewing_ = false;
  if (!r.granted) return;
  claim_.mode = to;
  claim_.token = r.token;
  token_.store(r.token, std::memory_order_release);
  last_token_ = std::max(r.token, r.last_token);
  const auto until = lasts_until(r.lease, sent);
  valid_until_.store(until.time_since_epoch().count(), std::memory_order_release);
}

// ---- renewal and loss ---------------------------------------------------------------------------

spi::claim* hold_state::prepare_renewal() {
  // What nobody uses is not renewed; what one user has for so long is one like any other from now on.
  const bool lingers = lingers_.load(std::memory_order_relaxed);
  if (lingers && !line_->stop_keeping(*this)) return nullptr;
  const std::lock_guard lock(m_);
  if (!held() || std::exchange(renewing_, true)) return nullptr;
  if (lingers) {
    claim_.linger = 0ms;
    claim_.lease = lease_;
  }
  claim_.token = token_.load(std::memory_order_relaxed);
  if (std::exchange(note_changed_, false)) {
    note_ = std::move(next_note_);
    claim_.note = note_;
  }
  return &claim_;
}

void hold_state::renewed(const spi::status& s, const spi::renew_reply& r, time_point sent) {
  AFAR_FAULT("core.renew.answered");
  std::chrono::nanoseconds left{};
  {
    const std::lock_guard lock(m_);
    renewing_ = false;
    if (!held() || s) return;  // a failure: the watchdog tries again while there is time
    if (r.why == spi::loss::none) {
      const auto until = lasts_until(r.lease, sent);
      left = valid_until() - boot_clock::now();
      if (until > valid_until())
        valid_until_.store(until.time_since_epoch().count(), std::memory_order_release);
    }
  }
  if (r.why != spi::loss::none) return lose(reason_of(r.why));
  if (over_.load(std::memory_order_relaxed)) return lose(loss_reason::unreachable);
  core_->renewals().confirmed(*this, sent);
  counters::up(core_->stats().renewed);
  if (core_->observed())
    core_->tell({.what = event::kind::renewed,
                 .name = name(),
                 .token = token(),
                 .at = boot_clock::now(),
                 .left = left,
                 .lease = lease_});
}

void hold_state::lose(loss_reason why) {
  const auto kept =
      lingers_.load(std::memory_order_relaxed) ? line_->take_kept(this) : nullptr;  // nobody's loss
  std::optional<std::stop_source> stop;
  {
    const std::lock_guard lock(m_);
    if (!held()) return;
    why_.store(why, std::memory_order_release);
    phase_.store(phase::lost, std::memory_order_release);
    stop = lost_;
  }
  core_->renewals().leave(*this);
  forget_asks();
  if (!kept) counters::up(core_->stats().lost);
  if (!kept && core_->observed())
    core_->tell({.what = event::kind::lost,
                 .name = name(),
                 .token = token(),
                 .at = boot_clock::now(),
                 .lease = lease_,
                 .reason = why});
  notify_lost(std::move(stop));
  leave_line();
}

void hold_state::ask() {
  std::optional<std::stop_source> stop;
  {
    const std::lock_guard lock(m_);
    if (!held()) return;
    why_.store(loss_reason::asked, std::memory_order_release);
    stop = lost_;
  }
  notify_lost(std::move(stop));
}

// Users' callbacks run on the notifier's thread, never on this one.
void hold_state::notify_lost(std::optional<std::stop_source> stop) const {
  if (stop) notifier::shared().post([s = std::move(*stop)]() mutable { s.request_stop(); });
}

std::stop_token hold_state::lost() {
  const std::lock_guard lock(m_);
  if (!lost_) {
    lost_.emplace();
    lost_is_made_.store(true, std::memory_order_release);
    const bool told = phase_ == phase::lost || why() != loss_reason::none;
    if (told) lost_->request_stop();
  }
  return lost_->get_token();
}

bool hold_state::valid() const noexcept {
  if (!held() || core_->forked()) return false;
  if (boot_clock::now() >= valid_until() && !AFAR_MUTANT("core.lease.not_checked"))
    over_.store(true, std::memory_order_relaxed);
  return !over_.load(std::memory_order_relaxed);
}

hold_state::time_point hold_state::valid_until() const noexcept {
  return time_point{boot_clock::duration{valid_until_.load(std::memory_order_acquire)}};
}

void hold_state::set_note(std::string text) {
  const std::lock_guard lock(m_);
  next_note_ = std::move(text);
  note_changed_ = true;
}

// ---- release ------------------------------------------------------------------------------------

void hold_state::end(ended done) noexcept {
  if (auto known = begin_end(done, false); known && done) done(std::move(*known));
}

std::optional<spi::status> hold_state::end_awaited() noexcept {
  ended nobody;
  return begin_end(nobody, true);
}

spi::status hold_state::await_end(time_point until) noexcept {
  if (end_answer_.wait_until(until)) return std::move(end_answer_.value());
  return {errc::unknown_outcome, "the lease will end it"};
}

// What came of it, where that is known at once: then the hold may be somebody else's already.
std::optional<spi::status> hold_state::begin_end(ended& done, bool awaited) noexcept {
  if (core_->forked()) return errc::forked;
  if (core_->observed())
    core_->tell({.what = event::kind::releasing,
                 .name = name(),
                 .token = token(),
                 .at = boot_clock::now()});
  if (claim_.handoffs > 0 && line_->hand_on(shared_from_this())) {
    counters::up(core_->stats().released);
    counters::up(core_->stats().handed_on);
    return spi::status{};
  }
  if (!awaited && may_stay() && keep()) return spi::status{};
  return begin_release(done, awaited);
}

std::optional<spi::status> hold_state::begin_release(ended& done, bool awaited) noexcept {
  bool watched = false;
  {
    const std::lock_guard lock(m_);
    const auto was = phase_.load(std::memory_order_relaxed);
    if (was == phase::releasing || was == phase::ended) return errc::not_owner;
    watched = was == phase::held;
    lost_before_release_ = was == phase::lost;
    const auto until = was == phase::claiming ? boot_clock::now() + lease_ : valid_until();
    release_until_ = until + core_->options().margin_of(lease_);
    phase_.store(phase::releasing, std::memory_order_release);
    std::swap(ended_, done);
    end_awaited_ = awaited;
  }
  if (watched) core_->renewals().leave(*this);
  if (in_line_.load(std::memory_order_relaxed)) line_->releasing();
  core_->release_begins();
  {
    const spi::coming_to_drive soon{awaited};
    send_release();
  }
  // The next one's request goes right behind the release: no need to wait for its answer.
  if (core_->about().ordered) leave_line();
  return std::nullopt;
}

void hold_state::send_release() {
  AFAR_FAULT("core.release.before_send");
  counters::up(core_->stats().steps);
  core_->engine().release(claim_, core_->background_by(boot_clock::now()),
                          [self = shared_from_this()](const spi::status& s, spi::release_reply r) {
                            self->release_answered(s, r);
                          });
}

void hold_state::release_answered(const spi::status& s, spi::release_reply r) {
  AFAR_FAULT("core.release.answered");
  if (!s) {
    // After a lost answer "gone" may be our own doing; within the lease it can be nothing else.
    const bool gone =
        r == spi::release_reply::gone && !(uncertain_ && boot_clock::now() < release_until_);
    return finish_release(gone || lost_before_release_ ? spi::status{errc::lost} : spi::status{});
  }
  const auto now = boot_clock::now();
  uncertain_ = uncertain_ || s.code != errc::unavailable;
  if (!wait_machine::transient(s.code) || now >= release_until_ || core_->engine_closed())
    return finish_release(s);
  counters::up(core_->stats().retried);
  // Before the timer is set: it may fire, and the next answer come, at once.
  const auto pause = release_pause_;
  release_pause_ = std::min(std::max(pause * 2, milliseconds{1}), milliseconds{500});
  timers::shared().at(now + pause, [self = shared_from_this()] { self->send_release(); });
}

void hold_state::finish_release(spi::status s) {
  ended done;
  {
    const std::lock_guard lock(m_);
    phase_.store(phase::ended, std::memory_order_release);
    done = std::move(ended_);
  }
  forget_asks();
  const bool failed = s && s.code != errc::lost;
  if (failed || !ownerless_)
    counters::up(failed ? core_->stats().release_failed : core_->stats().released);
  if (!ownerless_ && core_->observed())
    core_->tell({.what = failed ? event::kind::release_failed : event::kind::released,
                 .name = name(),
                 .token = token(),
                 .at = boot_clock::now(),
                 .code = s.code});
  leave_line();
  core_->release_ended();
  if (end_awaited_)
    end_answer_.give(std::move(s));
  else if (done)
    done(std::move(s));
}

void hold_state::leave_line() noexcept {
  if (in_line_.exchange(false, std::memory_order_acq_rel)) line_->leave();
}

void hold_state::close_down() {
  {
    const std::lock_guard lock(m_);
    if (!held()) return;
  }
  core_->release_begins();
  lose(loss_reason::closed);  // first: once it is released it may be another's
  core_->engine().release(claim_, core_->background_by(boot_clock::now()),
                          [self = shared_from_this()](const spi::status&, spi::release_reply) {
                            self->core_->release_ended();
                          });
}

}  // namespace afar::detail
