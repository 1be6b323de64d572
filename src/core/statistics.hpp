// Counters of one client; relaxed, because nobody orders anything by them.
#pragma once

#include <afar/client.hpp>

#include <atomic>

namespace afar::detail {

struct counters {
  using count = std::atomic<std::uint64_t>;
  count acquired{0}, handed_on{0}, reused{0}, reentered{0}, waited{0}, timed_out{0}, cancelled{0},
      renewed{0}, lost{0}, released{0}, release_failed{0}, retried{0}, misused{0}, steps{0};

  static void up(count& c) noexcept { c.fetch_add(1, std::memory_order_relaxed); }

  statistics read() const noexcept {
    const auto get = [](const count& c) { return c.load(std::memory_order_relaxed); };
    return {.acquired = get(acquired) + get(reused),  // counted once, where time counts most
            .handed_on = get(handed_on),
            .reused = get(reused),
            .reentered = get(reentered),
            .waited = get(waited),
            .timed_out = get(timed_out),
            .cancelled = get(cancelled),
            .renewed = get(renewed),
            .lost = get(lost),
            .released = get(released),
            .release_failed = get(release_failed),
            .retried = get(retried),
            .misused = get(misused),
            .steps = get(steps)};
  }
};

}  // namespace afar::detail
