// What one process did, in a file that outlives it. Stamps are of afar::boot_clock, one clock for all
// processes of a machine. What asks for something is stored before the request leaves, an answer after
// it came: only so is a belief never longer than it was.
#pragma once

#include "torture/mapped.hpp"

#include <afar/boot_clock.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace afar::torture {

inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();  // as a stamp

enum class act : std::uint32_t {
  none,
  asked,      // wants `weight` of the object; until: its deadline
  granted,    // token; until: when the belief ends if nothing is renewed
  gave_up,    // not got in time, or a failure (value)
  valid,      // token, still valid at `at`; until, as renewals have moved it
  done,       // token; the caller lets go
  told_lost,  // token; by the library
  releasing,  // token; by the library, right before the request leaves
  wrote,      // token; the fence let it through
  refused,    // token; the fence refused the write
  changing,  // a change of a value begins (value: its number), a count-down of `weight`, a permit's return
  changed,  // value: what a counter was before, or 1 if a stock sold
  unknown,  // a change that may have happened
  reading,  // the value is asked for
  saw,      // value: what it was
  passed,  // what was asked for: a latch is open, a barrier full, a permit taken, all of a multi_lock
  acquired,  // token; by the library, of a lock that a multi_lock may be about; its thread, if it is a worker's
  released,  // token; by the library: its release was answered, or given up
  stalled,   // this process, or a thread of it, could not run from `until` to `at`
  broke      // the worker saw a promise broken; value: which, see broken_here
};

// How a call that waits, and was asked, comes back.
constexpr bool comes_back(act a) noexcept {
  return a == act::granted || a == act::gave_up || a == act::passed;
}

enum class broken_here : std::int64_t { none, another_token, wrong_depth, valid_after_loss };

// `what` is stored last. Of what comes in rounds (plan.hpp) `token` is the round. Of a multi_lock `weight` is
// how many locks were wanted, and `value` of `passed` and `token` of `gave_up` how many it then had.
struct event {
  std::atomic<act> what{act::none};
  std::uint16_t object = 0;
  std::uint16_t thread = 0;
  std::int64_t at = 0;
  std::int64_t until = 0;
  std::uint64_t token = 0;
  std::int64_t value = 0;
  std::int64_t delayed = 0;
  std::uint32_t weight = 0;
};

// One event, read back or about to be stored.
struct fact {
  act what = act::none;
  std::uint16_t object = 0;
  std::uint16_t thread = 0;
  std::int64_t at = 0;
  std::int64_t until = 0;
  std::uint64_t token = 0;
  std::int64_t value = 0;
  std::uint32_t weight = 0;
  std::int64_t delayed = 0;  // asked, and how that comes back: run_delay of the thread
};

inline std::int64_t stamp(afar::boot_clock::time_point t) { return t.time_since_epoch().count(); }
inline std::int64_t now() { return stamp(afar::boot_clock::now()); }

// What a thread is about at this moment; for whoever aims at it.
enum class doing : std::uint32_t { other, waiting, working, about_to_write, releasing };

inline constexpr std::uint32_t most_threads = 16;
inline constexpr std::uint16_t no_thread = 0xffff;

struct summary {
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> granted{0};
  std::atomic<std::uint32_t> refused{0};
  std::array<std::atomic<doing>, most_threads> threads{};
};

class recorder {
 public:
  recorder() = default;
  explicit recorder(const std::string& path) : file_(path) {}

  summary& head() const { return file_.head(); }
  bool complete() const { return file_.complete(); }

  // Stamped here unless it says when.
  void note(const fact& f) const {
    file_.add(f.what, [&](event& e) {
      e.object = f.object;
      e.thread = f.thread;
      e.at = f.at != 0 ? f.at : now();
      e.until = f.until;
      e.token = f.token;
      e.value = f.value;
      e.weight = f.weight;
      e.delayed = f.delayed;
    });
  }

  std::vector<fact> facts() const {
    std::vector<fact> all;
    file_.for_each([&](act what, const event& e) {
      all.push_back(
          {what, e.object, e.thread, e.at, e.until, e.token, e.value, e.weight, e.delayed});
    });
    return all;
  }

 private:
  growing<summary, event, 1U << 21> file_;
};

}  // namespace afar::torture
