#include "core/local_line.hpp"

#include "core/claim_op.hpp"
#include "core/hold_state.hpp"

#include <algorithm>
#include <iterator>
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
  if (std::ranges::find(line_, op) == line_.end()) {
    line_.push_back(op);
    contention_.store(64, std::memory_order_relaxed);
    waiting_.store(line_.size(), std::memory_order_release);
  }
  return releasing_.load(std::memory_order_relaxed) ? place::held_up : place::queued;
}

bool local_line::remove(const claim_op* op) noexcept {
  const std::lock_guard lock(m_);
  const auto at = std::ranges::find(line_, op, [](const auto& p) { return p.get(); });
  if (at == line_.end()) return !op->has_turn();
  line_.erase(at);
  waiting_.store(line_.size(), std::memory_order_release);
  return true;
}

void local_line::leave() noexcept {
  std::shared_ptr<claim_op> next;
  std::vector<std::shared_ptr<claim_op>> tries;
  {
    const std::lock_guard lock(m_);
    releasing_.store(false, std::memory_order_relaxed);
    if (line_.empty()) {
      busy_ = false;
      return;
    }
    next = std::move(line_.front());
    line_.pop_front();
    waiting_.store(line_.size(), std::memory_order_release);
    next->give_turn();
    // They waited for the release only; now the lock is another's, and the answer is "busy".
    std::ranges::copy_if(line_, std::back_inserter(tries),
                         [](const auto& op) { return !op->waits(); });
  }
  next->turn_came();
  for (const auto& op : tries) op->turn_came();
}

bool local_line::hand_on(const std::shared_ptr<hold_state>& hold) noexcept {
  if (waiting_.load(std::memory_order_acquire) == 0) return false;
  std::shared_ptr<claim_op> next;
  {
    const std::lock_guard lock(m_);
    if (line_.empty() || !line_.front()->would_take(*hold) || !hold->try_hand_on()) return false;
    next = std::move(line_.front());
    line_.pop_front();
    waiting_.store(line_.size(), std::memory_order_release);
    next->give(hold);
  }
  next->turn_came();
  return true;
}

}  // namespace afar::detail
