#include "engines/embedded/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>

namespace afar::engines::embedded {
namespace {

std::uint64_t bit(std::size_t n) noexcept { return std::uint64_t{1} << (n % 64); }

void* address(std::atomic<std::uint32_t>& word) noexcept { return &word; }

void wake_everybody(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, address(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

std::optional<std::size_t> doorbell::take_slot(session_id session) noexcept {
  for (std::size_t i = 0; i < slot_count; ++i) {
    bell_slot& slot = area_.slots[i];
    if (slot.session.load(std::memory_order_relaxed) != 0) continue;
    slot.sleepers.store(0, std::memory_order_relaxed);
    slot.session.store(session, std::memory_order_release);
    return i;
  }
  return std::nullopt;
}

void doorbell::free_slots(session_id session) noexcept {
  for (std::size_t i = 0; i < slot_count; ++i) {
    bell_slot& slot = area_.slots[i];
    if (slot.session.load(std::memory_order_relaxed) != session) continue;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) stop_listening(i, bucket);
    for (auto& word : slot.dirty) word.store(0, std::memory_order_relaxed);
    // Last, so that a process killed before this line leaves it for the next one to repeat.
    slot.session.store(0, std::memory_order_release);
  }
}

void doorbell::listen(std::size_t slot, std::size_t bucket) noexcept {
  area_.listening[bucket][slot / 64].fetch_or(bit(slot), std::memory_order_seq_cst);
}

void doorbell::stop_listening(std::size_t slot, std::size_t bucket) noexcept {
  auto& word = area_.listening[bucket][slot / 64];
  if ((word.load(std::memory_order_relaxed) & bit(slot)) == 0) return;
  word.fetch_and(~bit(slot), std::memory_order_seq_cst);
}

// Relaxed reading is enough: a listener sets its bit and then looks at the state through the gate.
// Either it sees what the ringer did, or the ringer, who went through the gate later, sees the bit.
bool doorbell::ring(std::size_t bucket, std::size_t own) noexcept {
  const auto& listening = area_.listening[bucket];
  bool own_listens = false;
  for (std::size_t i = 0; i < std::size(listening); ++i) {
    for (std::uint64_t bits = listening[i].load(std::memory_order_relaxed); bits != 0;
         bits &= bits - 1) {
      const std::size_t n = i * 64 + static_cast<std::size_t>(std::countr_zero(bits));
      if (n == own) {
        own_listens = true;
        continue;
      }
      auto& dirty = area_.slots[n].dirty[bucket / 64];
      // Set already: somebody has poked it, and whoever drains it looks after that.
      if ((dirty.fetch_or(bit(bucket), std::memory_order_seq_cst) & bit(bucket)) == 0) poke(n);
    }
  }
  return own_listens;
}

void doorbell::poke(std::size_t n) noexcept {
  bell_slot& slot = area_.slots[n];
  slot.word.fetch_add(1, std::memory_order_seq_cst);
  if (slot.sleepers.load(std::memory_order_seq_cst) != 0) wake_everybody(slot.word);
}

void doorbell::wait(std::size_t n, std::uint32_t seen, spi::time_point until) noexcept {
  using namespace std::chrono;
  const auto now = boot_clock::now();
  if (now >= until) return;
  const auto left = std::min<boot_clock::duration>(until - now, hours{1});
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(duration_cast<seconds>(left).count());
  limit.tv_nsec = static_cast<long>((left % seconds{1}).count());
  bell_slot& slot = area_.slots[n];
  slot.sleepers.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, address(slot.word), FUTEX_WAIT, seen, &limit, nullptr, 0);
  slot.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace afar::engines::embedded
