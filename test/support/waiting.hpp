// Knowing that somebody waits.
#pragma once

#include "support/patience.hpp"

#include <afar/client.hpp>

#include <cstdint>

namespace afar::test {

// True as soon as `n` acquisitions of this client have been refused and wait, or did so before.
inline bool has_waited(const client& c, std::uint64_t n = 1) {
  return eventually([&] { return c.stats().waited >= n; });
}

}  // namespace afar::test
