// How processes wake each other: shared memory in which every session has a slot with a futex word,
// and every bucket of watch keys a bitmap of the slots that listen. Nobody holds a lock here, and
// every change is one atomic store, so that a process may die anywhere.
//
// A ring that nobody hears costs the reading of one bitmap. A lost ring costs latency, never
// correctness: refused claims look again by themselves.
#pragma once

#include "engines/embedded/keys.hpp"
#include "engines/records/claims.hpp"

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

namespace afar::engines::embedded {

using records::session_id;

inline constexpr std::size_t slot_count = 1'024;

struct bell_slot {
  alignas(64) std::atomic<session_id> session;  // 0: free
  std::atomic<std::uint32_t> word;              // grows with every ring; a futex
  std::atomic<std::uint32_t> sleepers;          // threads that wait on it
  alignas(64) std::atomic<std::uint64_t> dirty[bucket_count / 64];  // buckets rung since
};

// The file `bell`; a file of zeros is a silent bell.
struct bell_area {
  alignas(64) std::atomic<std::uint64_t> listening[bucket_count][slot_count / 64];
  bell_slot slots[slot_count];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class doorbell {
 public:
  explicit doorbell(bell_area& area) noexcept : area_(area) {}

  // ---- only inside the gate of the sessions
  // A free slot; none: the session must poll.
  std::optional<std::size_t> take_slot(session_id) noexcept;
  void free_slots(session_id) noexcept;
  template <class Visit>
  void each_session(Visit&& visit) const {
    for (const bell_slot& slot : area_.slots)
      if (const session_id id = slot.session.load(std::memory_order_acquire)) visit(id);
  }

  // ---- any time
  void listen(std::size_t slot, std::size_t bucket) noexcept;
  void stop_listening(std::size_t slot, std::size_t bucket) noexcept;

  // Wakes every slot that listens to the bucket, except the caller's own (slot_count: none); true if
  // that one listens too.
  bool ring(std::size_t bucket, std::size_t own) noexcept;
  void poke(std::size_t slot) noexcept;

  // Read the word, look whether there is anything to do, then wait: a ring in between is not lost.
  std::uint32_t word(std::size_t slot) const noexcept {
    return area_.slots[slot].word.load(std::memory_order_seq_cst);
  }
  void wait(std::size_t slot, std::uint32_t seen, spi::time_point until) noexcept;
  // Calls visit(bucket) for every bucket that was rung since the last call.
  template <class Visit>
  void drain(std::size_t slot, Visit&& visit) noexcept {
    auto& dirty = area_.slots[slot].dirty;
    for (std::size_t i = 0; i < std::size(dirty); ++i) {
      if (dirty[i].load(std::memory_order_seq_cst) == 0) continue;
      for (std::uint64_t bits = dirty[i].exchange(0); bits != 0; bits &= bits - 1)
        visit(i * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
    }
  }

 private:
  bell_area& area_;
};

}  // namespace afar::engines::embedded
