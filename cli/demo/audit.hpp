// Counts and checks a run, by nothing but what the processes recorded and the engine stores.
#pragma once

#include "demo/run.hpp"
#include "demo/team.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace afar::cli::demo {

struct results {
  double seconds = 0;
  std::uint64_t acquisitions = 0;
  double wait_p50 = 0, wait_p99 = 0;  // milliseconds
  std::uint64_t kills = 0, killed_holding = 0, killed_waiting = 0;
  double crash_p50 = 0, crash_most = 0;  // from the kill of a holder to the next grant
  std::uint64_t pauses = 0;              // past the lease, with somebody else served meanwhile
  std::uint64_t stale_refused = 0, stale_accepted = 0;
  std::int64_t sold = 0, remaining = 0, oversold = 0;
  std::uint64_t overlaps = 0, tokens_out_of_order = 0;
  std::vector<std::string> broken;  // invariants that did not hold, in words
};

// Call after all workers are gone. Settles orders whose answer died with their worker by repeating
// them: the order id makes that safe.
results audit(const place&, const options&, const team&);

}  // namespace afar::cli::demo
