// What one process did, in a file that outlives it: events are stored through a shared mapping, so
// that nothing is lost when the process is killed. Stamps are of afar::boot_clock, one clock for all
// processes of a machine. `asked` and `releasing` are stored before the request leaves, `granted`
// after the answer: only so is a belief interval never longer than the belief.
#pragma once

#include "torture/mapped.hpp"

#include <afar/boot_clock.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace afar::cli::demo {

enum class act : std::uint32_t {
  none,       // a slot that was claimed by a process that died before it filled it
  asked,      // wants the lock
  granted,    // token; until: when the belief ends if nothing is renewed
  gave_up,    // did not get it in time
  told_lost,  // token
  wrote,      // token; the fence let it through
  refused,    // token; the fence refused the write
  releasing,  // token; until, as it was before the release
  ordering,   // order
  sold,       // order
  sold_out,   // order
  failed      // order; not known whether it was sold
};

struct event {
  std::atomic<act> what{act::none};  // stored last: it publishes the rest
  std::uint32_t order = 0;
  std::int64_t at = 0;
  std::int64_t until = 0;
  std::uint64_t token = 0;
};

inline std::int64_t stamp(afar::boot_clock::time_point t) { return t.time_since_epoch().count(); }
inline std::int64_t now() { return stamp(afar::boot_clock::now()); }

// What a process is about at this moment; for whoever aims at it.
enum class doing : std::uint32_t { starting, waiting, working, writing, other };

// The beginning of a record file.
struct summary {
  std::atomic<doing> state{doing::starting};
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> granted{0};
  std::atomic<std::uint32_t> refused{0};
  std::atomic<std::uint32_t> sold{0};
  std::atomic<std::uint64_t> token{0};  // of the hold that it works under
};

// Safe for concurrent use; one file per process.
class recorder {
 public:
  recorder() = default;
  explicit recorder(const std::string& path) : file_(path) {}

  summary& head() const { return file_.head(); }

  void note(act what, std::uint64_t token = 0, std::int64_t until = 0, std::uint32_t order = 0) {
    file_.add(what, [&](event& e) {
      e.at = now();
      e.token = token;
      e.until = until;
      e.order = order;
    });
  }

 private:
  torture::growing<summary, event, 1U << 18> file_;

  friend class history;
};

// One event, read back.
struct fact {
  act what = act::none;
  std::uint32_t order = 0;
  std::int64_t at = 0;
  std::int64_t until = 0;
  std::uint64_t token = 0;
};

// A record as others read it, while it grows or after its process is gone.
class history {
 public:
  history() = default;
  explicit history(const std::string& path) : record_(path) {}

  const summary& head() const { return record_.head(); }
  bool complete() const { return record_.file_.complete(); }

  std::vector<fact> events() const {
    std::vector<fact> all;
    record_.file_.for_each(
        [&](act what, const event& e) { all.push_back({what, e.order, e.at, e.until, e.token}); });
    return all;
  }

 private:
  recorder record_;
};

}  // namespace afar::cli::demo
