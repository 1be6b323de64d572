// The engine-independent half of a client: what every primitive calls, and what engines call back.
// Calls that wait exist twice: blocking on the caller's thread, and started with a completion.
#pragma once

#include "core/arrival.hpp"
#include "core/fork_guard.hpp"
#include "core/local_line.hpp"
#include "core/settings.hpp"
#include "core/statistics.hpp"
#include "core/wake_hub.hpp"
#include "core/watchdog.hpp"

#include <afar/detail/deadline.hpp>
#include <afar/detail/function.hpp>
#include <afar/hold.hpp>
#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace afar::detail {

class claim_op;
class hold_state;
class wait_op;
using hold_ptr = std::shared_ptr<hold_state>;

struct claim_request {
  std::shared_ptr<local_line> line;  // kind and name; see core::line
  spi::access mode = spi::access::exclusive;
  std::uint32_t permits = 1;
  std::uint32_t limit = 1;
  deadline by = {};
  std::optional<milliseconds> lease = {};  // none: the client's; checked by the core
  renewal renew = renewal::automatic;
  std::stop_token stop = {};
  std::string note = {};  // empty: the client's own
};

struct cell_request {
  enum class until : std::uint8_t {
    answered,  // one answer, applied or not
    applied,   // waits until the change can be applied
    changed,   // waits until the value is not change.operand (action: load)
    zero       // waits until the cell exists and is 0 (action: load)
  };
  std::shared_ptr<const std::string> name;  // with the prefix; change.what.name is set from it
  spi::cell_change change = {};             // its op id is set by the core
  until goal = until::answered;
  deadline by = {};
  std::stop_token stop = {};
};

struct survey_request {
  spi::survey_query query;
  function<bool(const spi::survey_reply&)> enough = {};  // empty: the first answer is. It may run
                                                         // after the call: own what it captures
  deadline by = {};
  std::stop_token stop = {};
};

class core final : public spi::host, public std::enable_shared_from_this<core> {
 public:
  using factory = function<std::unique_ptr<spi::engine>(spi::host&)>;
  using acquired = function<void(spi::status, hold_ptr)>;
  using changed = function<void(spi::status, spi::cell_reply)>;

  // Opens the engine; throws what the factory throws, or errc::unsupported for settings.require.
  core(settings, factory);
  ~core();

  // The line of a kind and name; primitives keep it, so that a call needs no look-up.
  std::shared_ptr<local_line> line(spi::kind, const std::string& name);

  // Null with errc::timed_out if it was busy or not got in time.
  hold_ptr acquire(claim_request, spi::status&);
  void start_acquire(claim_request, acquired done);
  // What has stayed here since its last use (client_options::sticky), for one who wants it exclusively with
  // nothing of his own but perhaps a lease; null: nothing has, or it is of no use. Costs no step.
  hold_ptr take_again(local_line&, std::optional<milliseconds> lease);
  bool may_take_again(const local_line& l, spi::access mode, renewal r,
                      const std::stop_token& stop) const noexcept {
    return settings_.sticky > milliseconds{0} && l.keeps(mode) && r == renewal::automatic &&
           !stop.stop_requested();
  }

  // Shared to exclusive or back, without waiting. False without an error: there are other readers.
  bool convert(hold_state&, spi::access to, spi::status&);
  // Stores another note with a hold; returns when the engine has it. errc::lost: it is gone.
  spi::status rewrite_note(hold_state&, std::string note);

  // errc::timed_out if the goal was not reached in time.
  spi::status change(cell_request, spi::cell_reply&);
  void start_change(cell_request, changed done);
  spi::status record(const spi::ledger_change&, spi::ledger_reply&);
  spi::status survey(survey_request, spi::survey_reply&);
  spi::status evict(const spi::resource&, const spi::owner_id&, std::uint64_t token,
                    spi::release_reply&);
  spi::status ask_back(std::string key, bool& told);
  spi::status examine(std::vector<finding>&);
  spi::status collect(std::uint64_t& records);

  // See client::close. Only on a thread of the user's.
  void close() noexcept;

  const settings& options() const noexcept { return settings_; }
  const spi::traits& about() const noexcept { return engine_->about(); }
  counters& stats() noexcept { return counters_; }
  bool forked() const noexcept { return mark_.foreign(); }
  bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }

  // ---- for the core's own parts
  spi::engine& engine() noexcept { return *engine_; }
  wake_hub& hub() noexcept { return hub_; }
  watchdog& renewals() noexcept { return watchdog_; }
  spi::owner_id new_owner() noexcept;
  spi::op_id begin_op();  // a number for a change, and what is settled
  void end_op(const spi::op_id&) noexcept;
  void tell(const event&) const noexcept;
  bool observed() const noexcept { return settings_.observer != nullptr; }
  // errc::forked or errc::closed, or nothing.
  spi::status usable() const;
  // Until when a step that nobody waits for may take; short where a step blocks its thread.
  spi::time_point background_by(spi::time_point now) const noexcept;
  void release_begins() noexcept { releases_.fetch_add(1, std::memory_order_relaxed); }
  void release_ended() noexcept { releases_.fetch_sub(1, std::memory_order_release); }
  bool engine_closed() const noexcept { return engine_closed_.load(std::memory_order_acquire); }
  void enlist(wait_op&);  // told when the client closes
  void delist(wait_op&) noexcept;
  void expect_grant(const spi::owner_id&, const std::shared_ptr<wait_op>&);
  void forget_grant(const spi::owner_id&) noexcept;
  // Somebody may ask for this one back, from the moment when the engine is asked for it. False: no memory.
  bool expect_asks(hold_state&) noexcept;
  void forget_asks(const spi::owner_id&) noexcept;

 private:
  void wake(std::string_view key) noexcept override { hub_.wake(key); }
  void wake_all() noexcept override;
  bool busy() noexcept;  // calls, waits or releases are under way
  spi::status check(claim_request&) const;
  struct first_try;
  void try_first(const claim_request&, bool blocks, first_try&);
  void judge(first_try&, bool waits);
  std::shared_ptr<claim_op> operation(claim_request, const first_try&, acquired done);
  void granted(const spi::owner_id&, std::uint64_t token, std::uint64_t last_token,
               milliseconds lease) noexcept override;
  void asked(const spi::owner_id&) noexcept override;
  void session_lost() noexcept override;
  void in_doubt() noexcept override;
  void want_all_back() noexcept;

  const settings settings_;
  const fork_mark mark_;
  spi::owner_id identity_;
  std::atomic<std::uint64_t> next_number_{1};
  std::atomic<bool> closed_{false};
  std::atomic<bool> engine_closed_{false};
  std::atomic<std::int64_t> releases_{0};  // under way; closing waits for them
  arrival::count arrivals_{0};
  counters counters_;
  wake_hub hub_;
  watchdog watchdog_;

  std::mutex ops_mutex_;
  wait_op* first_op_ = nullptr;  // a list, linked by wait_op::place_
  std::unordered_map<std::uint64_t, std::weak_ptr<wait_op>> grants_;  // by owner number

  std::atomic<spi::time_point> glanced_at_{};  // at what the engine has to tell
  std::mutex asks_mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<hold_state>> asks_;  // by owner number

  std::mutex numbers_mutex_;
  std::set<std::uint64_t> unsettled_;

  std::mutex lines_mutex_;
  std::unordered_map<std::string, std::weak_ptr<local_line>> lines_;  // kind byte + name
  std::size_t sweep_lines_at_ = 0;  // how many of them there are when the unused ones go

  std::unique_ptr<spi::engine> engine_;  // last: destroyed first
};

}  // namespace afar::detail
