#include "core/local_line.hpp"

#include "core/claim_op.hpp"
#include "core/hold_state.hpp"

#include <utility>
#include <vector>

namespace afar::detail {

bool local_line::try_enter() noexcept {
  const std::lock_guard lock(m_);
  if (busy_) return false;
  busy_ = true;
  return true;
}

local_line::place local_line::enter(const std::shared_ptr<claim_op>& op) {
  const std::lock_guard lock(m_);
  if (op->has_turn()) return place::mine;
  if (!busy_) {
    busy_ = true;
    op->give_turn();
    return place::mine;
  }
  if (!op->in_line.lined) {
    append(op);
    contention_.store(64, std::memory_order_relaxed);
  }
  return releasing_.load(std::memory_order_relaxed) ? place::held_up : place::queued;
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
  {
    const std::lock_guard lock(m_);
    releasing_.store(false, std::memory_order_relaxed);
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
  return std::exchange(previous ? previous->in_line.next : first_, std::move(next));
}

}  // namespace afar::detail
