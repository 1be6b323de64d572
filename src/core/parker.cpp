#include "core/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace afar::detail {
namespace {

enum : std::uint32_t { none, notified, asleep };

// A futex counts its time-out on a clock that stands still while the machine is suspended; short
// slices bound how late we notice.
constexpr std::chrono::nanoseconds slice = std::chrono::seconds{1};

// Any return is a reason to look again, so errors need no handling.
void futex_wait(std::atomic<std::uint32_t>& word, std::chrono::nanoseconds most) noexcept {
  const timespec t{.tv_sec = static_cast<time_t>(most.count() / 1'000'000'000),
                   .tv_nsec = static_cast<long>(most.count() % 1'000'000'000)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, asleep, &t, nullptr, 0);
}

}  // namespace

void parker::park_until(boot_clock::time_point until) noexcept {
  std::uint32_t seen = none;
  if (!word_.compare_exchange_strong(seen, asleep, std::memory_order_acquire)) {
    word_.store(none, std::memory_order_relaxed);
    return;
  }
  while (word_.load(std::memory_order_acquire) == asleep) {
    const auto now = boot_clock::now();
    if (now >= until) break;
    futex_wait(word_, std::min(until - now, slice));
  }
  // A notification that arrives with the end of the time belongs to this call.
  word_.exchange(none, std::memory_order_acquire);
}

void parker::notify() noexcept {
  if (word_.exchange(notified, std::memory_order_release) != asleep) return;
  ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace afar::detail
