// Threads and coroutines of one client that want one kind and name queue here, so that one claim at a
// time talks to the engine, and a lease can be handed on without it.
//
// Invariants
//   1. busy_ while one claim_op or hold_state of this client stands for the line: it is claiming,
//      holding or releasing. Only it calls leave() or hand_on().
//   2. An op in the line has turn none. Turn and handed are set under m_ when it is taken out.
//   3. Lock order: m_ before hold_state's mutex. Nobody is called with m_ held.
//   4. Ten thousand may stand here: to enter, to leave and to be handed the hold is a few pointers
//      each, however long the line is.
#pragma once

#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace afar::detail {

class claim_op;
class hold_state;

class local_line {
 public:
  local_line(spi::kind kind, std::string full_name, std::size_t prefix)
      : kind_(kind), full_name_(std::move(full_name)), name_(full_name_.substr(prefix)) {}

  spi::resource what() const noexcept { return {kind_, full_name_}; }
  spi::kind kind() const noexcept { return kind_; }
  const std::string& name() const noexcept { return name_; }  // without the client's prefix

  // Exclusive claims queue locally, except where the engine's order is the promise (fair_mutex).
  bool lines_up(spi::access mode) const noexcept {
    return mode == spi::access::exclusive &&
           (kind_ == spi::kind::mutex || kind_ == spi::kind::shared_mutex ||
            kind_ == spi::kind::election);
  }

  bool try_enter() noexcept;  // true: the caller stands for the line now
  // held_up: as queued, but the one before is only waiting for the answer to its release.
  enum class place : std::uint8_t { mine, queued, held_up };
  place enter(const std::shared_ptr<claim_op>&);
  bool remove(claim_op&) noexcept;  // false: it has got its turn meanwhile
  void releasing() noexcept { releasing_.store(true, std::memory_order_relaxed); }
  void leave() noexcept;                                      // next one's turn
  bool hand_on(const std::shared_ptr<hold_state>&) noexcept;  // false: nobody waits, or it may not

  std::size_t waiting() const noexcept { return waiting_.load(std::memory_order_acquire); }

  // Did callers queue here lately? Only then is a block of tokens worth its numbers: blocks that are
  // not used make tokens run ahead of the clock.
  bool contended() noexcept {
    const auto left = contention_.load(std::memory_order_relaxed);
    if (left > 0) contention_.store(left - 1, std::memory_order_relaxed);
    return left > 0;
  }

  // ---- who locked through lock(): for deadlock detection and re-entry
  struct self_lock {
    std::thread::id thread = {};
    const void* object = nullptr;           // the primitive; null for recursive_mutex
    std::uint32_t depth = 0;                // recursive_mutex only
    std::shared_ptr<hold_state> hold = {};  // recursive_mutex only
  };
  std::mutex self_mutex;
  self_lock self;  // guarded by self_mutex

 private:
  void append(const std::shared_ptr<claim_op>&) noexcept;
  std::shared_ptr<claim_op> take_out(claim_op&) noexcept;

  const spi::kind kind_;
  const std::string full_name_;
  const std::string name_;

  std::mutex m_;
  bool busy_ = false;
  std::atomic<bool> releasing_{false};  // by whoever stands for the line; a hint
  // A list, linked by claim_op::in_line; each keeps the next alive.
  std::shared_ptr<claim_op> first_;
  claim_op* last_ = nullptr;
  std::size_t tries_ = 0;                // of those in the line, how many only wait for the release
  std::atomic<int> contention_{0};       // claims to go until the line counts as quiet
  std::atomic<std::size_t> waiting_{0};  // how many stand in the line; lets hand_on skip the mutex
};

}  // namespace afar::detail
