// One granted claim. All its transitions happen under one mutex, so renewal cannot outlive release,
// and a local hand-off gives the same object, with its next token, to the next waiter.
//
//   claiming ──► held ──► releasing ──► ended
//                 │  └──► lost ──► releasing (late, changes nothing) ──► ended
//
// Invariants
//   1. valid_until_ is the send of the last confirmed request + lease - margin; it only grows while held.
//   2. The watchdog knows the state exactly while it is held.
//   3. A state that stands for its local line leaves it once: when it is lost, or when the release is
//      answered or given up.
//   4. One that is kept by its line after its use (sticky) is held like any other, but belongs to nobody:
//      nobody is told when it is lost or released then.
#pragma once

#include "core/local_line.hpp"
#include "core/parker.hpp"
#include "core/settings.hpp"
#include "core/sync_wait.hpp"
#include "core/watchdog.hpp"

#include <afar/detail/function.hpp>
#include <afar/hold.hpp>
#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace afar::detail {

class claim_op;
class client_state;
class core;
class first_question;
struct claim_request;

class hold_state : public std::enable_shared_from_this<hold_state> {
 public:
  using time_point = boot_clock::time_point;
  using ended = function<void(spi::status)>;

  hold_state(std::shared_ptr<core>, const claim_request&, milliseconds lease);
  hold_state(const hold_state&) = delete;
  hold_state& operator=(const hold_state&) = delete;
  ~hold_state();

  // ---- for claim_op and core
  spi::claim& claim() noexcept { return claim_; }
  spi::claim& ready_to_ask() noexcept;  // the claim, about to be sent to the engine
  const std::shared_ptr<local_line>& line() const noexcept { return line_; }
  // Asks the engine for the first time; the question must not end before it is answered or passed on.
  void ask_first(first_question&, time_point by);
  // The operation gets the answer instead. False: it is there already.
  bool pass_on(const std::shared_ptr<claim_op>&);
  // Who gave the answer has left the question. (Of a grant: begin() makes sure of it.)
  void end_question() { const std::lock_guard lock(m_); }
  // The claim was granted by a request that left at `sent`. False: so late that it is over already.
  // waited: it was refused before, so others want it too.
  bool begin(const spi::acquire_reply&, time_point sent, bool waited = false);
  void stand_for_line() noexcept { in_line_.store(true, std::memory_order_relaxed); }
  void leave_line() noexcept;
  // Becomes the next waiter's, with the next token, if the bounds of hand-off allow it. For the line.
  bool try_hand_on() noexcept;
  // Would it do for that request of this client as well?
  bool like(const claim_request&) const noexcept;

  // ---- what is kept after its use (hold_keeping.cpp; inv 4)
  // For the line, under its mutex.
  bool stands_for_line() const noexcept { return in_line_.load(std::memory_order_relaxed); }
  bool be_kept(time_point now) noexcept;  // false: it may not
  void stop_keeping() noexcept { keeps_ = false; }
  void tell_use(stickiness&, time_point now) noexcept;  // once: it is not kept any more
  // For whoever has taken it out of the line: is it of use for that request? Becomes the next user's, with the
  // next token. False: it cannot, and has to be given back.
  bool fits(milliseconds lease) const noexcept { return lease == lease_; }
  bool try_again(time_point now) noexcept;
  void give_back_kept() noexcept;
  // Somebody else wants it: goes back now if nobody uses it, else at the next unlock.
  void want_back() noexcept;
  // Its user lets it go, and wants to know nothing more: as end({}) in fewer steps. True: kept, and moved from.
  static bool let_go_quickly(std::shared_ptr<hold_state>&) noexcept;

  // Claims the right to make a step on the claim beside renewals. False: one is under way.
  bool begin_step() noexcept;
  void converted(spi::access, const spi::acquire_reply&, time_point sent);
  bool held() const noexcept { return phase_.load(std::memory_order_acquire) == phase::held; }

  // ---- for the watchdog
  bool renews() const noexcept { return renew_; }
  milliseconds lease() const noexcept { return lease_; }
  // A third of it is the time between renewals: the lease or, if the engine granted less, about that.
  milliseconds pace() const noexcept { return milliseconds{pace_.load(std::memory_order_relaxed)}; }
  spi::claim* prepare_renewal();  // null: no longer held
  void renewed(const spi::status&, const spi::renew_reply&, time_point sent);
  void lose(loss_reason);
  struct watchdog_hook {
    hold_state* previous = nullptr;
    hold_state* next = nullptr;
    std::size_t list = 0;
    time_point due{};
    bool listed = false;              // in a list
    bool busy = false;                // in the map of those being renewed:
    watchdog::busy_map::iterator at;  // there
  };
  watchdog_hook hook;  // guarded by the watchdog

  // ---- for the user's side
  // Releases. `done` (may be empty) runs once, when it is known what came of it; see hold::release.
  void end(ended done) noexcept;
  // As end(), for one who waits: what came of it, if that is known at once; else await_end tells.
  std::optional<spi::status> end_awaited() noexcept;
  spi::status await_end(time_point until) noexcept;
  void keep_open(std::shared_ptr<client_state> c) noexcept { client_ = std::move(c); }
  std::shared_ptr<client_state> let_go() noexcept { return std::move(client_); }
  bool valid() const noexcept;
  time_point valid_until() const noexcept;
  std::uint64_t token() const noexcept { return token_.load(std::memory_order_acquire); }
  std::stop_token lost();
  loss_reason why() const noexcept { return why_.load(std::memory_order_acquire); }
  const std::string& name() const noexcept { return line_->name(); }
  spi::access mode() const noexcept { return claim_.mode; }
  core& owner() const noexcept { return *core_; }
  void set_note(std::string);
  void ask();         // somebody wants it back: tells, but does not end it
  void close_down();  // the client closes: releases and tells

 private:
  enum class phase : std::uint8_t { claiming, held, lost, releasing, ended };
  void first_answered(spi::status, spi::acquire_reply);
  std::optional<spi::status> begin_end(ended& done, bool awaited) noexcept;
  std::optional<spi::status> begin_release(ended& done, bool awaited) noexcept;
  void choose_linger() noexcept;
  bool keep() noexcept;
  bool may_stay() const noexcept;
  void forget_asks() noexcept;
  void send_release();
  void release_answered(const spi::status&, spi::release_reply);
  void finish_release(spi::status);
  time_point lasts_until(milliseconds granted, time_point sent) noexcept;
  void notify_lost(std::optional<std::stop_source>) const;

  const std::shared_ptr<core> core_;
  const std::shared_ptr<local_line> line_;
  const bool renew_;
  const milliseconds lease_;
  spi::claim claim_;
  std::shared_ptr<client_state> client_;  // an open hold keeps its client open
  std::atomic<bool> in_line_{false};      // stands for line_ (inv 3)
  std::atomic<phase> phase_{phase::claiming};
  std::atomic<std::uint64_t> token_{0};
  std::atomic<std::int64_t> valid_until_{0};  // ns of boot_clock
  // Its user was told that its time is over. That is final, also if a renewal is confirmed afterwards.
  mutable std::atomic<bool> over_{false};
  std::atomic<milliseconds::rep> pace_;
  std::atomic<loss_reason> why_{loss_reason::none};

  std::atomic<bool> lingers_{false};  // asked for as one that is kept; the core knows it
  std::atomic<bool> wanted_{false};   // somebody else has asked for it
  bool keeps_ = false;                // guarded by the line
  std::uint32_t uses_ = 0;            // how often it was taken again; by whoever has it
  time_point taken_at_{};             // the last time
  bool ownerless_ = false;            // released after it was kept

  parker asker_;  // where the first question is waited for
  mutable std::mutex m_;
  first_question* asked_first_ = nullptr;
  std::shared_ptr<claim_op> passed_on_to_;
  std::uint64_t last_token_ = 0;
  std::uint32_t hands_ = 0;
  time_point granted_at_{};
  std::string note_;       // what claim_.note views, if it is our own
  std::string next_note_;  // takes effect with the next renewal
  bool note_changed_ = false;
  bool renewing_ = false;  // a renewal that nobody has answered yet: claim_ must not change
  std::optional<std::stop_source> lost_;  // made when somebody asks
  std::atomic<bool> lost_is_made_{false};
  ended ended_;
  bool end_awaited_ = false;
  answer<spi::status> end_answer_;
  bool lost_before_release_ = false;
  bool uncertain_ = false;  // the answer to a release was lost
  time_point release_until_{};
  milliseconds release_pause_{0};
};

}  // namespace afar::detail
