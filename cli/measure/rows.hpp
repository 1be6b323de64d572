// What `afar bench` measures on the user's engine. Every figure is of whole calls of the public API.
#pragma once

#include <afar/client.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace afar::cli::bench {

struct row {
  std::string what;
  unsigned threads = 1;
  std::uint64_t count = 0;  // operations measured
  double per_second = 0;
  double p50_us = 0, p99_us = 0,
         max_us = 0;  // of what the row is about: the call, the gap, the wait
};

// Opens another client of the engine under test.
using opener = std::function<client()>;

// Locks and unlocks, every thread a name of its own, all through one client.
row own_names(const opener&, unsigned threads, std::chrono::nanoseconds);
// One name, every thread a client of its own: how long lock() waited.
row one_name(const opener&, unsigned threads, std::chrono::nanoseconds);
// From the release by one client to the grant of another that waits.
row hand_off(const opener&, std::chrono::nanoseconds);
// One question to the engine: reads a counter.
row round_trip(const opener&, std::chrono::nanoseconds);

}  // namespace afar::cli::bench
