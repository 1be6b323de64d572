// When a call gives up. "Do not wait" is a flag, not a time, and arithmetic saturates:
// now() + hours::max() would lie in the past.
#pragma once

#include <afar/boot_clock.hpp>

#include <chrono>

namespace afar::detail {

struct deadline {
  boot_clock::time_point at = boot_clock::time_point::max();
  bool waits = true;

  static constexpr deadline forever() noexcept { return {}; }
  // A refusal is the answer. `latest` is for an engine that does not answer.
  static constexpr deadline no_wait(
      boot_clock::time_point latest = boot_clock::time_point::max()) noexcept {
    return {latest, false};
  }

  template <class Rep, class Period>
  static deadline after(const std::chrono::duration<Rep, Period>& d) noexcept {
    using std::chrono::nanoseconds;
    if (!(d > d.zero())) return no_wait();
    const auto now = boot_clock::now();
    // Compared as floating point: the duration itself may not fit into nanoseconds.
    const auto room = std::chrono::duration<double>(boot_clock::time_point::max() - now);
    if (std::chrono::duration<double>(d) >= room) return forever();
    return {now + std::chrono::ceil<nanoseconds>(d), true};
  }

  bool infinite() const noexcept { return waits && at == boot_clock::time_point::max(); }
};

// Runs attempt(deadline) until it succeeds or `t` has passed on its own clock: a clock that is
// stepped back while we wait leaves time for another attempt. attempt: true when done.
template <class Clock, class Duration, class Attempt>
bool until(const std::chrono::time_point<Clock, Duration>& t, Attempt attempt) {
  for (;;) {
    const bool got = attempt(deadline::after(t - Clock::now()));
    if (got || Clock::is_steady || Clock::now() >= t) return got;
  }
}

}  // namespace afar::detail
