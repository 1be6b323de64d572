// Decides what a waiting operation does next. It performs no I/O, reads no clock and owns no thread:
// it is told what happened and when, and answers with the next action. Every blocking call of afar
// runs through it.
//
//              refused              watched
//   attempt ───────────► watch ───────────────► sleep ──┐ wake, retry time, deadline (last try)
//     ▲  │ granted         │ look once more             │
//     │  ▼                 ▼                            │
//     │ finish ◄── withdraw ◄── deadline, stop, close   │
//     └─────────────────────────────────────────────────┘
//
// Deadline and stop count in every state. While a step is under way the answer is `report`: the
// user's call ends now, and the operation lives on until the step answers and is then withdrawn.
#pragma once

#include <afar/spi/engine.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace afar::detail {

class wait_machine {
 public:
  using time_point = spi::time_point;
  using milliseconds = std::chrono::milliseconds;

  enum class action : std::uint8_t {
    none,
    attempt,
    watch,
    sleep,
    withdraw,  // undo what attempts may have left behind, then on_withdrawn
    report,    // the user's call ends with result(); the operation goes on
    finish     // it is over; report first if it was not
  };

  // What an attempt came to, whichever primitive made it.
  struct attempted {
    bool done = false;
    spi::rare_text watch_key = {};
    std::optional<milliseconds> retry_after = {};
    bool wake_is_sure = false;  // it comes from this process: no look without it
    bool asked = false;         // for it, who holds it: see acquire_reply
  };

  struct limits {
    time_point deadline = time_point::max();
    bool waits = true;  // false: a refusal is the answer; deadline bounds retries of failures
    milliseconds poll{1'000};       // look again at least so often
    milliseconds patience{10'000};  // how long failures of the engine are retried
    milliseconds step{10'000};      // one attempt; short where it blocks its thread
    // Past the deadline, for the last try and then for withdrawing. Both together stay below the 100 ms
    // that are promised, with some room for a thread that gets its turn late.
    milliseconds grace{40};
  };

  explicit wait_machine(const limits& l) : limits_(l) {}

  action start() { return begin_attempt(); }

  action on_attempt(const spi::status&, attempted, time_point now);
  action on_watch(const spi::status&, bool recheck, time_point now);
  action on_wake();  // a hint; remembered while a step is under way
  action on_timer(time_point now);
  action on_stop(errc why, time_point now);  // cancelled or closed
  // A grant that the engine pushed: only for who waits. The answer to a question that is under way
  // will say so itself.
  bool takes_grant() const;
  action on_granted();
  action on_withdrawn();

  // When on_timer wants to be called.
  time_point wake_at() const;
  // Until when the attempt that begins now may take.
  time_point attempt_by(time_point now) const;

  // The engine may do it the next time.
  static bool transient(const std::error_code&);

  const std::string& watch_key() const { return watch_key_; }
  const spi::status& result() const { return result_; }
  bool retrying() const { return failing_since_.has_value(); }
  bool refused_before() const { return refused_; }

 private:
  enum class state : std::uint8_t { idle, attempting, watching, asleep, withdrawing, over };

  action begin_attempt();
  action failed(const spi::status&, time_point now);
  action refused(attempted, time_point now);
  action sleep();
  spi::status too_late(time_point now) const;  // the result when the deadline has passed
  action give_up(spi::status, time_point now);
  action finish(spi::status);
  action report(spi::status);
  static time_point later(time_point, milliseconds);

  const limits limits_;
  state state_ = state::idle;
  std::string watch_key_;
  time_point retry_at_ = time_point::max();
  time_point give_up_at_ = time_point::max();
  milliseconds pause_{0};
  std::optional<time_point> failing_since_;
  spi::status failure_;
  bool no_answer_ = false;  // the last failure: nothing came in time; not that it cannot be reached
  spi::status result_;
  bool woken_ = false;
  bool refused_ = false;  // some attempt was
  int second_looks_ = 0;  // of who does not wait
  bool last_try_ = false;
  bool reported_ = false;
};

}  // namespace afar::detail
