// The worker processes that serve all buyers, and what happens to them: some are killed, some are
// stopped for longer than their lease, and all of those are replaced.
#pragma once

#include "sale.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace sale {

struct settings {
  plan p = {};
  int buyers = 10'000;
  int kills = 5;
  int stalls = 1;
  int processes = 4;
  int threads = 2;  // of each process
};

inline constexpr int most_processes = 16;
inline constexpr int most_threads = 64;  // of all processes
inline constexpr int clicks = 2;  // an impatient buyer asks two workers at about the same time

// In memory that all processes share: a worker that is killed leaves here how far it came.
struct board {
  std::array<std::atomic<std::int64_t>, outcomes> said{};
  std::array<std::atomic<std::int64_t>, 300> took{};  // answers by time, eight steps to a doubling
  std::array<std::atomic<int>, most_threads> next{};  // the buyer whom this thread serves
  std::array<std::atomic<int>, most_processes> generation{};  // of the process of that number
  std::atomic<int> ready{};                                   // threads that wait for the doors
  std::atomic<bool> open{};
  std::atomic<std::int64_t> opened_us{};
  std::atomic<std::int64_t> last_order_us{};
  std::atomic<std::int64_t> refused{};  // late writes that the table refused
  std::atomic<std::int64_t> unanswered{};

  std::int64_t answers() const;
  double p99_ms() const;
};

struct run_result {
  double seconds = 0;       // since the doors opened
  double orders_after = 0;  // until the last order was written
  int killed = 0;
  int stalled = 0;
};

// Serves every click. Throws if that does not end.
run_result serve_all(const settings&, way, board&);

}  // namespace sale
