// Time as all processes of a measurement see it.
#pragma once

#include <sys/types.h>
#include <ctime>

#include <chrono>
#include <cstdint>
#include <stdexcept>

namespace bench {

using std::chrono::nanoseconds;

// CLOCK_MONOTONIC: one clock for all processes, so stamps of different processes can be subtracted.
inline std::int64_t now_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline void sleep_until_ns(std::int64_t at) noexcept {
  const timespec t{at / 1'000'000'000, at % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
  }
}

inline void sleep_for(nanoseconds d) noexcept { sleep_until_ns(now_ns() + d.count()); }

// Nanoseconds of processor time that all threads of a process have used; 0 is this process.
inline double cpu_ns(pid_t of) {
  clockid_t clock{};
  timespec t{};
  if (::clock_getcpuclockid(of, &clock) != 0 || ::clock_gettime(clock, &t) != 0)
    throw std::runtime_error("the time that a process has used cannot be read");
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// Calls `once` for about `time` and returns how often per second. The clock is read after every
// `batch` calls only: reading it costs a few per cent of the fastest contender.
template <class Once>
double rate(nanoseconds time, Once&& once, int batch = 16) {
  const std::int64_t start = now_ns();
  const std::int64_t end = start + time.count();
  std::int64_t done = 0;
  std::int64_t now = start;
  do {
    for (int i = 0; i < batch; ++i) once();
    done += batch;
    now = now_ns();
  } while (now < end);
  return static_cast<double>(done) * 1e9 / static_cast<double>(now - start);
}

}  // namespace bench
