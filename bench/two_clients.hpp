// A lock that one client hands to another one which waits for it.
#pragma once

#include "clock.hpp"
#include "series.hpp"

#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <string>
#include <thread>

namespace bench {

// Milliseconds from the release to the grant of the one who waited, the median of several.
inline double client_hand_off(const std::string& url, int count) {
  using namespace std::chrono_literals;
  const afar::client from{url, {.handoff = 0}};
  const afar::client to{url, {.handoff = 0}};
  afar::mutex mine{from, "hand-off/afar"};
  afar::mutex theirs{to, "hand-off/afar"};
  series all;
  for (int i = 0; i < count; ++i) {
    afar::hold held = mine.acquire();
    const auto waited = to.stats().waited;
    std::int64_t got = 0;
    std::jthread waits{[&] {
      const afar::hold next = theirs.acquire();
      got = now_ns();
    }};
    while (to.stats().waited == waited) std::this_thread::yield();
    sleep_for(5ms);  // until it sleeps
    const std::int64_t start = now_ns();
    held.release();
    waits.join();
    all.add(static_cast<double>(got - start) / 1e6);
  }
  return all.median();
}

}  // namespace bench
