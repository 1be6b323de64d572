// Getting the lock of a plan, while listening to whoever wants to give up.
#pragma once

#include "run_plan.hpp"
#include "signals.hpp"
#include "wire.hpp"

#include <afar/client.hpp>
#include <afar/hold.hpp>

#include <optional>
#include <stop_token>

namespace afar::cli {

struct taken {
  hold lock = {};
  int left_by = 0;  // the signal that ended the wait; SIGHUP if the front process is gone
};

// Until when; none: for ever.
using limit = std::optional<boot_clock::time_point>;
limit limit_of(const std::optional<milliseconds>& wait);

// Waits and listens to nobody but `stop`. An empty hold: not in time. Throws failure (64) that says how
// to take a name that is something else.
hold take_once(const client&, const run_plan&, const limit& by, const std::stop_token& stop);

// The first attempt, without waiting. On a busy machine an engine may answer late, which says nothing of
// the lock: -n asks it again for a while; with time to wait the hold is empty, and waiting goes on.
hold try_take(const client&, const run_plan&);

// An empty hold without a signal: not in time. Throws lock_error.
taken take(const client&, const run_plan&, const signals&, wire&);

// "nightly is held by web-2:4711 (cron@web-2, ./report.sh) for 3m12s; lease ends in 27s; …"
std::string conflict(const client&, const std::string& name);
// How a name is taken that is something else than the plan says: "; take it with --fair".
std::string way_in(const client&, const std::string& name);

}  // namespace afar::cli
