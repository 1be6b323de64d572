// Which faults a faulty engine plants, and how often. Read from the URL:
// faulty+memory:x?drop=0.05&refuse=0.02&duplicate=0.05&delayed=0.1&delay=5ms&seed=1
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace afar::engines::wrap {

// Chances are between 0 and 1, per step.
struct faults {
  double drop = 0.05;       // done, but the answer is errc::unknown_outcome
  double refuse = 0.02;     // not done: errc::unavailable
  double duplicate = 0.05;  // done twice
  double delayed = 0.05;    // answered up to `delay` later
  double spurious = 0.02;   // some watched key is woken for nothing
  double lose = 0.0;        // per wake: it is lost (costs the core's patience, so not by default)
  std::chrono::microseconds delay{5'000};
  std::uint64_t seed = 1;
};

// Throws std::invalid_argument that says which option is wrong.
faults read_faults(const std::map<std::string, std::string>& options);

std::span<const std::string_view> fault_options() noexcept;

}  // namespace afar::engines::wrap
