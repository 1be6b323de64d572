#include "core/local_line.hpp"

#include "core/claim_op.hpp"
#include "core/hold_state.hpp"

#include <utility>
#include <vector>

namespace afar::detail {

namespace {
// Who is the first of a long line now has been waiting for long, and is in no cache any more. It is needed next.
void fetch(const claim_op* op) noexcept {
  if (!op) return;
  constexpr std::size_t cache_line = 64;
  const char* const bytes = reinterpret_cast<const char*>(op);
  for (std::size_t at = 0; at < sizeof *op; at += cache_line) __builtin_prefetch(bytes + at);
}
}  // namespace

bool local_line::try_enter() noexcept {
  const std::lock_guard lock(m_);
  if (busy_) return false;
  busy_ = true;
  return true;
}

local_line::place local_line::enter(const std::shared_ptr<claim_op>& op) {
  std::shared_ptr<hold_state> in_the_way;
  {
    const std::lock_guard lock(m_);
    if (op->has_turn()) return place::mine;
    if (!busy_) {
      busy_ = true;
      op->give_turn();
      return place::mine;
    }
    if (kept_ && op->would_take(*kept_) && kept_->try_again(boot_clock::now())) {
      op->give(std::move(kept_));
      return place::mine;
    }
    if (!op->in_line.lined) {
      append(op);
      contention_.store(64, std::memory_order_relaxed);
    }
    in_the_way = std::move(kept_);
    if (!in_the_way)
      return releasing_.load(std::memory_order_relaxed) ? place::held_up : place::queued;
  }
  in_the_way->give_back_kept();  // gives the turn to who waits
  return place::held_up;
}

bool local_line::remove(claim_op& op) noexcept {
  const std::lock_guard lock(m_);
  if (!op.in_line.lined) return !op.has_turn();
  take_out(op);
  return true;
}

void local_line::leave() noexcept {
  std::shared_ptr<claim_op> next;
  std::vector<std::shared_ptr<claim_op>> tries;
  std::shared_ptr<hold_state> lost;
  {
    const std::lock_guard lock(m_);
    releasing_.store(false, std::memory_order_relaxed);
    lost = std::move(kept_);  // while its user let it go
    if (!first_) {
      busy_ = false;
      return;
    }
    next = take_out(*first_);
    next->give_turn();
    // They waited for the release only; now the lock is another's, and the answer is "busy". They
    // came while it was under way, so they stand near the end.
    for (auto* op = last_; tries.size() < tries_; op = op->in_line.previous)
      if (!op->waits()) tries.push_back(op->shared());
  }
  next->turn_came();
  for (const auto& op : tries) op->turn_came();
}

bool local_line::hand_on(const std::shared_ptr<hold_state>& hold) noexcept {
  if (waiting_.load(std::memory_order_acquire) == 0) return false;
  std::shared_ptr<claim_op> next;
  {
    const std::lock_guard lock(m_);
    if (!first_ || !first_->would_take(*hold) || !hold->try_hand_on()) return false;
    next = take_out(*first_);
    next->give(hold);
  }
  next->turn_came();
  return true;
}

void local_line::append(const std::shared_ptr<claim_op>& op) noexcept {
  op->in_line = {.lined = true, .previous = last_};
  (last_ ? last_->in_line.next : first_) = op;
  last_ = op.get();
  if (!op->waits()) ++tries_;
  waiting_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<claim_op> local_line::take_out(claim_op& op) noexcept {
  auto [lined, previous, next] = std::exchange(op.in_line, {});
  (next ? next->in_line.previous : last_) = previous;
  if (!op.waits()) --tries_;
  waiting_.fetch_sub(1, std::memory_order_release);
  auto out = std::exchange(previous ? previous->in_line.next : first_, std::move(next));
  fetch(first_.get());
  return out;
}

// ---- what is kept -------------------------------------------------------------------------------

bool local_line::keep(std::shared_ptr<hold_state>& hold, time_point now,
                      std::shared_ptr<local_line>& first) noexcept {
  const std::lock_guard lock(m_);
  if (!hold->stands_for_line()) return false;  // lost: the line is another's
  learned_.let_go(now);
  if (first_ || !hold->be_kept(now)) {
    hold->tell_use(learned_, now);
    return false;
  }
  if (!std::exchange(looked_after_, true)) first = hold->line();
  kept_ = std::move(hold);
  return true;
}

std::shared_ptr<hold_state> local_line::take_kept(const hold_state* only) noexcept {
  const std::lock_guard lock(m_);
  if (only && kept_.get() != only) return nullptr;
  return std::move(kept_);
}

local_line::lingered local_line::look_at_kept(time_point now,
                                              std::chrono::milliseconds linger) noexcept {
  const std::lock_guard lock(m_);
  const auto until = learned_.let_go_at() + linger;
  looked_after_ = kept_ && now < until;
  if (looked_after_) return {.again = until};
  return {.over = std::move(kept_)};
}

bool local_line::stop_keeping(hold_state& hold) noexcept {
  const std::lock_guard lock(m_);
  if (kept_.get() == &hold) return false;
  hold.stop_keeping();
  return true;
}

std::uint32_t local_line::worth_keeping(time_point now, std::chrono::milliseconds linger,
                                        std::uint32_t most) noexcept {
  const std::lock_guard lock(m_);
  return learned_.worth(now, linger, most);
}

void local_line::given_back(std::uint32_t times, bool asked, time_point now) noexcept {
  const std::lock_guard lock(m_);
  learned_.given_back(times, asked, now);
}

}  // namespace afar::detail
