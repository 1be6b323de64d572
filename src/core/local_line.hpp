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
//   5. While kept_ is set it stands for the line, nobody uses it and nobody waits. It is put there and taken
//      out under m_, so that one decides: the next user, who asked for it, the end of its time, or a loss.
#pragma once

#include "core/stickiness.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
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

  // ---- a hold that stays here after its use, for whoever is next (sticky; inv 5)
  using time_point = spi::time_point;
  // May it be kept: of a mutex, whose order is no promise?
  bool keeps(spi::access mode) const noexcept {
    return mode == spi::access::exclusive && kind_ == spi::kind::mutex;
  }
  // Its user lets it go; moved from if it is kept. Else it has to be released. `first` is set to this line if
  // somebody has to come back after its time.
  bool keep(std::shared_ptr<hold_state>&, time_point now,
            std::shared_ptr<local_line>& first) noexcept;
  // Whoever takes it out uses it or gives it back. `only`: if it is that one.
  std::shared_ptr<hold_state> take_kept(const hold_state* only = nullptr) noexcept;
  // What has been here for its time, and has to be given back; else when to look again, if ever.
  struct lingered {
    std::shared_ptr<hold_state> over = {};
    std::optional<time_point> again = {};
  };
  lingered look_at_kept(time_point now, std::chrono::milliseconds linger) noexcept;
  // From now on it is one like any other. False: it is kept just now.
  bool stop_keeping(hold_state&) noexcept;
  std::uint32_t worth_keeping(time_point now, std::chrono::milliseconds linger,
                              std::uint32_t most) noexcept;
  void given_back(std::uint32_t times, bool asked, time_point now) noexcept;

  // ---- who locked through lock(): for deadlock detection and re-entry
  struct self_lock {
    std::thread::id thread = {};
    const void* object = nullptr;           // the primitive; null for recursive_mutex
    std::uint32_t depth = 0;                // recursive_mutex only
    std::shared_ptr<hold_state> hold = {};  // recursive_mutex only
  };
  std::mutex self_mutex;
  self_lock self;  // guarded by self_mutex
  // == self.thread. Read without the mutex: only a thread itself puts its id there, and what another one puts
  // there says no less that it is not this one.
  std::atomic<std::thread::id> self_thread;

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
  std::size_t tries_ = 0;  // of those in the line, how many only wait for the release
  std::shared_ptr<hold_state> kept_;
  bool looked_after_ = false;  // somebody comes back after the time of what is kept
  stickiness learned_;
  std::atomic<int> contention_{0};       // claims to go until the line counts as quiet
  std::atomic<std::size_t> waiting_{0};  // how many stand in the line; lets hand_on skip the mutex
};

}  // namespace afar::detail
