// The contract between afar's core and a storage engine. Unstable: it may change with any version.
//
// An engine performs single atomic steps. It never waits for a lock to become free, never renews on
// its own, never counts re-entries: the core does these things once, for every engine.
//
// Shared state comes in three families:
//   claims   leased rights with an owner: mutex, shared_mutex, permits, barrier, election
//   cells    64-bit integers without one: counter, latch, semaphore
//   ledgers  bounded amounts with a record of who took what: stock
//
// Rules for engines
//   1. `done` runs exactly once, from any thread, possibly before the call returns, with no engine
//      lock held. An engine accepts any step from inside `done`.
//   2. acquire, renew and release are idempotent per owner, change per op id and record per order
//      id, with the result remembered. After a lost answer a step fails with errc::unknown_outcome
//      and the core repeats it. Engines re-send only what was certainly not done.
//   3. renew never creates, so a release may overtake it. It also keeps the places of queued claims
//      alive, raises the stored token to claim.token and stores claim.note.
//   4. A lost wake costs latency, never correctness: the core attempts again by retry_after or its
//      own poll ceiling. A watch lasts until unwatch; after a reconnect the engine calls wake_all().
//   5. Leases are counted on the engine's clock, never on a client's wall clock.
//   6. close() is called once, by a user's thread; afterwards no callback of the engine runs.
//   7. Any name of 1 to 1,024 bytes is legal. Engines map names injectively; no name is ever spliced
//      into script, SQL or path text.
//   8. Session engines implement renew as a heartbeat that answers with the session's timeout as the
//      lease. One arithmetic covers all: valid until the send of the last confirmed step + lease.
//   9. The kind (and limit) stored with a name is checked: other use fails with errc::wrong_use and a
//      detail that says what the name is. What an engine cannot do at all is missing in traits.kinds.
//      A mutex and a shared_mutex of one name are one lock where traits.mutex_is_writer says so.
//  10. Views inside claims, changes and queries stay valid until `done` runs, not longer. Claims stay
//      at one address from acquire to the end of release; steps on one claim never overlap, except
//      that a release may overtake a renew.
#pragma once

#include <afar/boot_clock.hpp>
#include <afar/detail/function.hpp>
#include <afar/error.hpp>
#include <afar/spi/owner.hpp>
#include <afar/spi/rare_text.hpp>
#include <afar/upkeep.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afar::spi {

using std::chrono::milliseconds;
using time_point = boot_clock::time_point;
using calendar_time = std::chrono::time_point<std::chrono::system_clock, milliseconds>;

// An error and, in words, what it is about: "is a stock, not a mutex". Ordinary outcomes (refused,
// gone, not applied) are not errors.
struct status {
  std::error_code code = {};
  rare_text detail = {};

  status() = default;
  status(errc e, rare_text text = {}) : code(e), detail(std::move(text)) {}             // NOLINT
  status(std::error_code c, rare_text text = {}) : code(c), detail(std::move(text)) {}  // NOLINT
  explicit operator bool() const noexcept { return static_cast<bool>(code); }  // true: failed
};

// Stored with every name; never renumber.
enum class kind : std::uint8_t {
  mutex = 1,         // claims; recursive_mutex is a mutex whose depth the core counts
  fair_mutex = 2,    //   strictly first come, first served
  shared_mutex = 3,  //   one writer or many readers; a queued writer keeps later readers out
  permits = 4,       //   `permits` of `limit`
  barrier = 5,       //   granted when `limit` live claims stand in line
  election = 6,      //   a mutex whose holder is the leader and whose note is what it proclaims
  counter = 7,       // cells
  latch = 8,         //   once at zero it stays at zero
  semaphore = 9,
  stock = 10  // ledgers
};
constexpr std::uint32_t bit(kind k) noexcept {
  return std::uint32_t{1} << static_cast<unsigned>(k);
}
constexpr std::uint32_t every_kind = 0x7fe;

constexpr std::string_view word(kind k) noexcept {
  switch (k) {
    case kind::mutex:
      return "mutex";
    case kind::fair_mutex:
      return "fair_mutex";
    case kind::shared_mutex:
      return "shared_mutex";
    case kind::permits:
      return "leased_semaphore";
    case kind::barrier:
      return "barrier";
    case kind::election:
      return "election";
    case kind::counter:
      return "counter";
    case kind::latch:
      return "latch";
    case kind::semaphore:
      return "counting_semaphore";
    case kind::stock:
      return "stock";
  }
  return "unknown kind";
}

struct resource {
  spi::kind kind = kind::mutex;
  std::string_view name;
};

enum class access : std::uint8_t { exclusive, shared };

// Why a hold is no longer one.
enum class loss : std::uint8_t {
  none,
  expired,      // the lease ran out before a renewal was confirmed
  evicted,      // somebody broke it (afar release)
  asked,        // somebody asks for it back; it is still held until the lease ends
  session,      // the engine ended this client's session
  unreachable,  // the engine did not answer in time; it may still be held there
  closed        // the client was closed
};

// ---- claims -----------------------------------------------------------------------------------

// One wish to hold a resource, from the first attempt to the end of the release.
struct claim {
  resource what;
  owner_id owner;
  access mode = access::exclusive;
  std::uint32_t permits = 1;
  std::uint32_t limit = 1;
  milliseconds lease{30'000};
  bool queue = true;           // false: a refusal leaves nothing behind (try_lock)
  std::uint32_t handoffs = 0;  // extra tokens wanted for local hand-off
  milliseconds linger{};  // > 0: its client keeps it for so long after its last use, and gives it
                          // back when it is asked (host::asked): who is refused because of it asks
  std::uint64_t token =
      0;  // 0 until granted; then acquire converts the mode, renew raises the stored token
  std::string_view note;  // at most 1 KiB; stored with the claim, shown by survey
  std::string place;      // the engine's own memo (znode, row id, queue place)
};

struct acquire_reply {
  bool granted = false;
  loss why = loss::none;         // converting a hold that is gone: why
  std::uint64_t token = 0;       // larger than that of every earlier grant of this name
  std::uint64_t last_token = 0;  // end of the block reserved for local hand-off; == token if none
  milliseconds lease{};          // as granted
  rare_text watch_key = {};      // refused: what to watch; empty if nothing can be
  std::optional<milliseconds> retry_after = {};  // refused: attempt by then, wake or no wake
  bool asked =
      false;  // refused: the holder may only linger, and was asked; it may be free in a moment
};

struct renew_reply {
  loss why = loss::none;  // none: renewed (a queued claim: its place is kept)
  milliseconds lease{};
};

// wanted: released, and others who wait for it without a line were told.
enum class release_reply : std::uint8_t { released, gone, wanted };

// ---- cells ------------------------------------------------------------------------------------

// Identifies one change, so that a repeated one takes effect once. `owner.number` grows with every
// change of a client; all its changes below `settled` have their answers and are never repeated.
// Engines through which a request can still be on its way keep results by time (2 min) instead.
struct op_id {
  owner_id owner;
  std::uint64_t settled = 0;
};

enum class cell_action : std::uint8_t { load, store, add, compare_exchange, erase };

// Applied only if the new value lies in [min, max] and, for compare_exchange, the old one equals
// `expected`. A missing cell counts as `initial` (and load does not create it); without `initial` a
// change of a missing cell is not applied.
struct cell_change {
  resource what;
  cell_action action = cell_action::load;
  std::int64_t operand = 0;
  std::int64_t expected = 0;
  std::optional<std::int64_t> initial = {};
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  op_id id;
};

struct cell_reply {
  bool applied = false;
  bool exists = false;     // before the change
  std::int64_t value = 0;  // after the change, or the one that refused it
  std::int64_t before = 0;
  std::string watch_key = {};  // wakes when the value changes
};

// ---- ledgers ----------------------------------------------------------------------------------

enum class ledger_action : std::uint8_t {
  define,    // sets what remains, the window and the per-buyer limit; orders are kept
  load,      // reads
  restock,   // adds `amount` (may be negative, but never below zero) to what remains
  take,      // takes for good
  reserve,   // takes for `hold_for`, then it returns by itself
  commit,    // makes a reservation final
  cancel,    // returns a reservation
  put_back,  // returns a taken order
  erase      // forgets the stock and all its orders
};

enum class ledger_outcome : std::uint8_t {
  done,           // taken, reserved, committed, returned, defined …
  sold_out,       // less remains than was asked for
  not_open_yet,   // before the window
  closed,         // after the window
  limit_reached,  // this buyer has had its share
  already_taken,  // this order id stands for another buyer or amount, or was returned before
  no_such_stock,
  no_such_order,
  expired  // the reservation had already run out
};

// Calendar times by the engine's calendar clock.
struct window {
  std::optional<calendar_time> opens = {};
  std::optional<calendar_time> closes = {};
};

struct ledger_change {
  resource what;
  ledger_action action = ledger_action::load;
  std::int64_t amount = 0;
  std::string_view order = {};  // the idempotency key of take and reserve
  std::string_view buyer = {};
  std::uint32_t per_buyer = 0;  // define: units one buyer may have; 0: no limit
  milliseconds hold_for{};
  window open;
  op_id id;  // makes restock repeatable
};

struct ledger_reply {
  ledger_outcome outcome = ledger_outcome::done;
  std::int64_t remaining = 0;
  std::int64_t reserved = 0;  // in reservations that still run
  std::int64_t taken = 0;     // for good
};

// ---- what there is ----------------------------------------------------------------------------

struct claimant {
  owner_id owner;
  access mode = access::exclusive;
  std::uint32_t permits = 1;
  std::uint64_t token = 0;  // 0: waiting
  milliseconds since{};     // how long it has held or waited
  milliseconds lease_left{};
  std::string note;
  // Of a hold, where the engine knows it.
  milliseconds lease = {};                   // as granted
  std::optional<milliseconds> renewed = {};  // how long ago; none: not since the grant
  std::optional<std::uint64_t> renewals = {};
  std::string key = {};  // something of its own that is stored exactly as long as it lasts
};

// A hold that is over.
struct past_hold {
  std::uint64_t token = 0;
  loss why = loss::none;  // none: it was released
  milliseconds held{};    // for how long
  milliseconds ago{};     // since it was over
  std::string host = {};  // whose it was, where the engine knows it
  std::int64_t pid = 0;
};

struct entry {
  spi::kind kind = kind::mutex;
  std::string name;
  std::uint32_t limit = 1;
  std::vector<claimant> holders;
  std::vector<claimant> waiters;  // in the order in which they will be served
  std::uint64_t last_token = 0;   // claims
  std::int64_t value = 0;         // cells and ledgers (what remains)
  // For people, and only where the engine can tell it without cost to those who lock.
  std::vector<past_hold> history = {};  // newest first
  std::string key = {};                 // exact name: where it is stored
  std::string format = {};              //   whose layout that is: "native", "redisson" …
  std::string token_source = {};        //   what makes its tokens grow
};

struct survey_query {
  std::string_view name = {};  // exact; empty: all
  std::optional<spi::kind> kind = {};
  std::string_view cursor = {};  // from the reply before
  std::uint32_t most = 1'000;
};

struct survey_reply {
  std::vector<entry> entries;
  std::string cursor;     // empty: that was all
  std::string watch_key;  // of an exact name: wakes when its holders or its note change
};

// ---- watching ---------------------------------------------------------------------------------

// recheck: the state may have changed before the watch took hold, so the core looks once more
// before it sleeps.
struct watch_reply {
  bool recheck = true;
};

// A thread of a user that waits. Engines may use it to do the engine's reading (see drive).
class waiter {
 public:
  virtual bool ready() const noexcept = 0;           // what it waits for has happened
  virtual void park_until(time_point) noexcept = 0;  // returns early when notified
  virtual void notify() noexcept = 0;                // any thread; makes park_until return
  // What it listens to while it is driven, where traits::drive_listens; empty: nothing.
  virtual std::string_view key() const noexcept { return {}; }

 protected:
  ~waiter() = default;
};

// What an engine may call, from any thread. None of these block or call back into the engine's
// locks; the core never outlives close().
class host {
 public:
  virtual void wake(std::string_view watch_key) noexcept = 0;  // a hint; may be spurious
  virtual void wake_all() noexcept = 0;                        // everybody looks again
  // A queued claim was granted without being asked (direct grant), for `lease` from a moment after its
  // last refusal. Nobody hears it before that refusal was answered: watch() says `recheck` then.
  virtual void granted(const owner_id&, std::uint64_t token, std::uint64_t last_token,
                       milliseconds lease) noexcept = 0;
  // Somebody wants this hold back. One that lingers is given back, at once or at its next unlock.
  virtual void asked(const owner_id&) noexcept = 0;
  virtual void session_lost() noexcept = 0;  // an accelerator only, see rule 8
  // The engine may have forgotten what is held (restart, failover): renew at once, and learn it.
  virtual void in_doubt() noexcept {}

 protected:
  ~host() = default;
};

// What an engine is. `poll` is the core's ceiling between two looks when nothing wakes it.
struct traits {
  std::string_view name;
  std::uint32_t kinds = every_kind;
  std::string_view why_not = {};   // other kinds are missing
  std::uint32_t token_block = 0;   // tokens that one grant may reserve for local hand-off
  std::uint32_t sticky_block = 0;  // the same of a claim that lingers; 0: none can
  std::string_view why_not_sticky = {};
  milliseconds waiter_lease{5'000};  // how long a silent waiter keeps its place
  milliseconds poll{1'000};
  milliseconds try_time{5'000};  // how long a call that does not wait may take
  bool pushes_grants = false;    // calls host::granted
  bool inline_steps = false;     // every step calls `done` before it returns
  bool drive_listens = false;    // drive() listens to waiter::key(): who is driven needs no watch()
  bool ordered = false;          // a step of a name is done after those that were asked for before
  bool mutex_is_writer = false;  // a mutex waits for the readers of a shared_mutex, and they for it
  bool fifo = true;              // waiters are served in the order in which they came
  bool fenced = true;            // grants carry tokens that always grow
  bool survives_crash = true;    // a dead holder's claims come back without help
  bool survives_restart =
      false;  // state survives a restart of the engine (embedded: of the machine)
  bool survives_failover = false;  // no second holder when a replica takes over
};

template <class Reply>
using done = detail::function<void(status, Reply)>;
using renewed = detail::function<void(std::size_t index, status, renew_reply)>;  // once per claim

// `by`: the step fails with errc::timed_out or errc::unavailable then, whatever the server does.
class engine {
 public:
  virtual ~engine() = default;
  virtual const traits& about() const noexcept = 0;

  virtual void acquire(claim&, time_point by, done<acquire_reply>) = 0;
  virtual void renew(std::span<claim* const>, time_point by, renewed each) = 0;
  virtual void release(const claim&, time_point by,
                       done<release_reply>) = 0;  // also leaves the line

  virtual void change(const cell_change&, time_point by, done<cell_reply>) = 0;
  virtual void record(const ledger_change&, time_point by, done<ledger_reply>) = 0;

  virtual void watch(std::string_view key, done<watch_reply>) = 0;
  virtual void unwatch(std::string_view key) noexcept = 0;

  virtual void survey(const survey_query&, time_point by, done<survey_reply>) = 0;
  // Breaks a hold if owner and token are both still those. The holder learns it when it renews.
  // Repeated because its answer was lost, it says "released" again.
  virtual void evict(const resource&, const owner_id&, std::uint64_t token, time_point by,
                     done<release_reply>) = 0;

  // Tells the holder with this claimant::key that somebody wants it back (host::asked on its side), which
  // it may ignore. False: it is gone. May be repeated.
  virtual void ask_back(std::string_view /*key*/, time_point, done<bool> then) {
    then({errc::unsupported, "this engine cannot ask a holder, only break its hold"}, false);
  }

  // What a person should know of its state and settings before he trusts it (afar doctor).
  virtual void examine(time_point, done<std::vector<finding>> then) { then({}, {}); }
  // Clears away at once what its steps would clear away in passing; how many records that was.
  virtual void collect(time_point, done<std::uint64_t> then) { then({}, 0); }

  // Called by a user's thread that waits. Returns when w.ready(), at `until`, or spuriously. True:
  // w.key() was rung, or may have been before this call; the waiter looks again.
  virtual bool drive(waiter& w, time_point until) noexcept {
    w.park_until(until);
    return false;
  }
  // Something else than the engine made a waiter ready that is being driven, and w.notify() was
  // called: drive shall not sleep on.
  virtual void nudge() noexcept {}
  // Called now and then by a thread that uses what lingers, and so makes no steps: hears at once what has
  // come (host::asked), without waiting for anything.
  virtual void glance() noexcept {}

  virtual void close() noexcept = 0;
};

}  // namespace afar::spi
