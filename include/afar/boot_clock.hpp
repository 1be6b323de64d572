// The clock of all deadlines and leases: time since boot, suspend included. A laptop that slept
// must not believe that no time has passed, and a step of the wall clock must change nothing.
#pragma once

#include <time.h>

#include <chrono>

namespace afar {

struct boot_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<boot_clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
  }
};

}  // namespace afar
