// Time in tests. Nothing sleeps to wait for something: it polls a condition with a deadline. Upper
// bounds are generous, because the machine may be busy and the build may carry a sanitizer; only
// "not earlier than" is tight.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace afar::test {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How much slower than an optimised build this one may be.
#if defined(__SANITIZE_THREAD__)
inline constexpr int slowness = 5;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr int slowness = 3;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr int slowness = 5;
#elif __has_feature(address_sanitizer)
inline constexpr int slowness = 3;
#else
inline constexpr int slowness = 1;
#endif
#else
inline constexpr int slowness = 1;
#endif

// Long enough for anything that happens at all; a test that waits so long has failed.
inline constexpr nanoseconds long_time = slowness * 20s;

// Polls `condition` until it is true; false: not within `limit`.
template <class Condition>
bool eventually(Condition condition, nanoseconds limit = 5s) {
  const auto end = std::chrono::steady_clock::now() + limit * slowness;
  for (auto pause = 100us; !condition(); pause = std::min<decltype(pause)>(pause * 2, 5ms)) {
    if (std::chrono::steady_clock::now() >= end) return condition();
    std::this_thread::sleep_for(pause);
  }
  return true;
}

template <class Work>
nanoseconds time_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start;
}

// For upper bounds on a machine that is busy with other things: measures until one run was within
// `enough`, at most five times, and returns the best.
template <class Measure>
nanoseconds quickest(nanoseconds enough, Measure measure) {
  nanoseconds best = nanoseconds::max();
  for (int run = 0; run < 5 && best > enough; ++run) best = std::min<nanoseconds>(best, measure());
  return best;
}

// Keeps things as they are for a while; not for waiting.
inline void hold_still(nanoseconds d) { std::this_thread::sleep_for(d); }

}  // namespace afar::test
