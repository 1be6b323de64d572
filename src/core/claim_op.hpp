// One wish to hold something that was not granted at once: waits in the local line, then for the
// engine.
#pragma once

#include "core/core.hpp"
#include "core/hold_state.hpp"
#include "core/wait_op.hpp"

namespace afar::detail {

class claim_op final : public wait_op {
 public:
  // asked_at: the caller stands for the line already, and has asked the engine then, for `state`;
  // else there is none yet.
  claim_op(std::shared_ptr<core>, const wait_machine::limits&, claim_request, hold_ptr state,
           std::optional<spi::time_point> asked_at, core::acquired done);

  std::shared_ptr<claim_op> shared() {
    return std::static_pointer_cast<claim_op>(shared_from_this());
  }

  // The answer to what was asked, if it came before the operation began: no. The newest token so far.
  void refused_before(std::uint64_t token) noexcept;
  // If it comes later.
  void replied(spi::status, spi::acquire_reply);

  // For the line, under its mutex: what it gives to an op that it takes out (inv 2 there).
  bool has_turn() const noexcept { return turn_ == turn::mine; }
  void give_turn() noexcept { turn_ = turn::mine; }
  void give(hold_ptr handed) noexcept {
    turn_ = turn::mine;
    handed_ = std::move(handed);
  }

  struct neighbours {
    bool lined = false;
    claim_op* previous = nullptr;
    std::shared_ptr<claim_op> next = {};
  };
  neighbours in_line;  // guarded by the line

  // After the turn was given, or given to another, without the line's mutex.
  void turn_came() { resume_soon(); }

  bool waits() const noexcept { return waits_; }  // false: a try

  // Would a hold of another request of this client do as well?
  bool would_take(const hold_state& other) const noexcept { return other.like(request_); }

  // With what limits a request waits on this engine.
  static wait_machine::limits limits_of(const core&, const deadline&);

 private:
  enum class turn : std::uint8_t { none, mine };

  void attempt(spi::time_point by) override;
  void withdraw() override;
  void report(const spi::status&) override;
  bool resume() override;
  bool waits_for_engine() const noexcept override { return left_behind_ || behind_release_; }
  bool adopt(std::uint64_t token, std::uint64_t last_token,
             std::chrono::milliseconds lease) override;

  void before_watch() override;

  void ask_engine(spi::time_point by);
  void count_wait() noexcept;

  local_line& line() const noexcept { return *request_.line; }

  const claim_request request_;
  const bool lines_up_;
  const bool waits_;
  // Null until the engine is asked: most of a long line are handed the hold of another.
  hold_ptr state_;
  core::acquired done_;
  const spi::time_point began_ = boot_clock::now();
  spi::time_point sent_;
  std::uint64_t refused_token_ = 0;  // the newest token that a refusal named
  spi::time_point refused_sent_{};   // when what was refused last was sent
  std::atomic<bool> left_behind_;    // the engine may have something of this claim
  bool behind_release_ = false;      // the line moves when the engine answers our own release
  bool asked_;                       // the observer knows that it asks
  bool granted_ = false;
  std::optional<spi::owner_id> expected_;   // whom the core knows a pushed grant to be for
  bool waited_ = false;                     // counted as one that waits
  std::optional<spi::time_point> held_up_;  // an attempt that waits for a release of our own

  turn turn_;        // guarded by the line
  hold_ptr handed_;  // set before the turn is given, then ours
};

}  // namespace afar::detail
