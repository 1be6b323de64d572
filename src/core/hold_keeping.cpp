// How a hold stays with its client after its use, and how it is taken again or given back (hold_state, inv 4;
// local_line, inv 5).
#include "core/cancel_guard.hpp"
#include "core/core.hpp"
#include "core/hold_state.hpp"
#include "core/timers.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <utility>

namespace afar::detail {
namespace {

using namespace std::chrono_literals;

// A message that asks for it may be lost, and other libraries do not ask: after that time it goes back
// although it is used again and again.
milliseconds longest_stay(milliseconds linger) noexcept { return std::max(10 * linger, 100ms); }

void look_at_kept(const std::shared_ptr<local_line>&, milliseconds linger,
                  boot_clock::time_point now) noexcept;

// Comes back when the time of what a line keeps is over. Owns neither line nor core.
void look_after(const std::shared_ptr<local_line>& kept_by, milliseconds linger,
                boot_clock::time_point at) noexcept {
  try {
    timers::shared().at(at, [weak = std::weak_ptr{kept_by}, linger] {
      if (const auto line = weak.lock()) look_at_kept(line, linger, boot_clock::now());
    });
  } catch (...) {  // nobody would come back: it cannot stay
    look_at_kept(kept_by, linger, boot_clock::time_point::max());
  }
}

void look_at_kept(const std::shared_ptr<local_line>& line, milliseconds linger,
                  boot_clock::time_point now) noexcept {
  const auto found = line->look_at_kept(now, linger);
  if (found.over) found.over->give_back_kept();
  if (found.again) look_after(line, linger, *found.again);
}

}  // namespace

// Before the engine is asked: shall it stay here after its use? Who dies with something that nobody uses costs
// others no more than one who dies in line: its lease is short until it is renewed.
void hold_state::choose_linger() noexcept {
  const auto linger = core_->options().sticky;
  if (linger == 0ms || !renew_ || !note_.empty() || !line_->keeps(claim_.mode)) return;
  const auto& engine = core_->about();
  const auto tokens = line_->worth_keeping(boot_clock::now(), linger, engine.sticky_block);
  const bool stays = tokens > 0 && core_->expect_asks(*this);
  claim_.linger = stays ? linger : 0ms;
  claim_.lease = stays ? std::min(lease_, engine.waiter_lease) : lease_;
  claim_.handoffs =
      stays ? std::max(claim_.handoffs, tokens) : std::min(claim_.handoffs, engine.token_block);
  if (stays) lingers_.store(true, std::memory_order_relaxed);
}

void hold_state::forget_asks() noexcept {
  if (lingers_.exchange(false, std::memory_order_relaxed)) core_->forget_asks(claim_.owner);
}

bool hold_state::may_stay() const noexcept {
  return core_->options().sticky > 0ms && line_->keeps(claim_.mode);
}

bool hold_state::be_kept(time_point now) noexcept {
  if (!keeps_ || !held() || over_.load(std::memory_order_relaxed) || why() != loss_reason::none)
    return false;
  const bool wanted = wanted_.load(std::memory_order_seq_cst);
  if (wanted && !AFAR_MUTANT("core.sticky.asked_in_vain")) return false;
  if (token_.load(std::memory_order_relaxed) >= last_token_) return false;
  if (now - granted_at_ >= longest_stay(claim_.linger) || now + pace() / 3 >= valid_until())
    return false;
  counters::up(core_->stats().released);
  return true;
}

void hold_state::tell_use(stickiness& to, time_point now) noexcept {
  if (std::exchange(keeps_, false))
    to.given_back(uses_, wanted_.load(std::memory_order_relaxed), now);
}

// Its user lets it go. From here on it may be somebody else's; who calls this has it, and with it the core.
bool hold_state::keep() noexcept {
  const auto now = boot_clock::now();
  const auto token = this->token();
  auto self = shared_from_this();
  std::shared_ptr<local_line> first;
  if (!line_->keep(self, now, first)) return false;
  if (core_->observed())
    core_->tell({.what = event::kind::released, .name = name(), .token = token, .at = now});
  const auto linger = core_->options().sticky;
  if (first) look_after(first, linger, now + linger);
  return true;
}

bool hold_state::let_go_quickly(std::shared_ptr<hold_state>& hold) noexcept {
  if (!hold->may_stay() || hold->core_->observed() || hold->line_->waiting() > 0) return false;
  const auto linger = hold->core_->options().sticky;
  // Of what was taken again the time counts from then: a look at the clock costs as much as the rest of this,
  // and what is used for as long as it may stay need not stay.
  const auto now = hold->uses_ > 0 ? hold->taken_at_ : boot_clock::now();
  std::shared_ptr<local_line> first;
  if (!hold->line_->keep(hold, now, first)) return false;  // from here on nothing of it may be here
  if (first) {
    const cancel_guard no_cancellation;
    look_after(first, linger, now + linger);
  }
  return true;
}

// Without the mutex: who has taken it out of the line is the only one who changes these, and a loss may come
// a moment later just as well.
bool hold_state::try_again(time_point now) noexcept {
  if (wanted_.load(std::memory_order_relaxed)) return false;
  const auto next =
      token_.load(std::memory_order_relaxed) + (AFAR_MUTANT("core.sticky.same_token") ? 0 : 1);
  if (!held() || next > last_token_ || now + pace() / 3 >= valid_until()) return false;
  ++uses_;
  taken_at_ = now;
  token_.store(next, std::memory_order_release);
  if (lost_is_made_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(m_);
    lost_.reset();
    lost_is_made_.store(false, std::memory_order_relaxed);
  }
  return true;
}

void hold_state::give_back_kept() noexcept {
  line_->given_back(uses_, wanted_.load(std::memory_order_relaxed), boot_clock::now());
  ownerless_ = true;
  ended nobody;
  begin_release(nobody, false);
}

// In this order: who lets it go looks at wanted_ under the mutex of the line, under which we look for it then.
void hold_state::want_back() noexcept {
  wanted_.store(true, std::memory_order_seq_cst);
  if (line_->take_kept(this)) give_back_kept();
}

}  // namespace afar::detail
