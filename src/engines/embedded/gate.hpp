// The door to a shard: a robust mutex in shared memory, through which steps go one at a time, on
// this machine. LMDB's own lock cannot be waited for with a limit, and a process that is stopped
// inside a transaction would block all others for ever.
//
// Invariants
//   1. Whoever is inside leaves within microseconds: no callback, no waiting, no I/O but the sync
//      that a durable folder asks for.
//   2. A process that dies inside is noticed by the next one; what it left is consistent because
//      LMDB's commit and envelope::turn_over are single stores.
#pragma once

#include <afar/spi/engine.hpp>

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace afar::engines::embedded {

// Lies in the file `gates`. Two cache lines each, because neighbours are fetched in pairs and two
// processes on different shards must not share one.
struct alignas(128) gate_cell {
  pthread_mutex_t mutex;
  std::atomic<std::int32_t> pid;    // who is or was inside last
  std::atomic<std::uint64_t> room;  // bytes of the shard's file that are certainly allocated
};

// Once, when the file is made.
void make_gate(gate_cell&);

class gate {
 public:
  gate(gate_cell& cell, std::int32_t pid) noexcept : cell_(cell), pid_(pid) {}

  // Fails with errc::unavailable at `by` and says who sits inside.
  spi::status enter(spi::time_point by);
  bool try_enter() noexcept;
  void leave() noexcept;

  gate_cell& cell() const noexcept { return cell_; }

 private:
  bool entered(int rc) noexcept;
  spi::status blocked() const;

  gate_cell& cell_;
  const std::int32_t pid_;
};

// Leaves the gate at the end of the scope, or earlier.
class inside {
 public:
  explicit inside(gate& g) noexcept : gate_(&g) {}  // already entered
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  ~inside() { leave(); }
  void leave() noexcept {
    if (gate_) gate_->leave();
    gate_ = nullptr;
  }

 private:
  gate* gate_;
};

}  // namespace afar::engines::embedded
