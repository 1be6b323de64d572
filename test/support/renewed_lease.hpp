// A lease that is short for a test, and still kept by renewal on a machine that stalls for half a
// second.
#pragma once

#include "support/patience.hpp"

#include <algorithm>

namespace afar::test {

inline constexpr milliseconds renewed_lease = std::max<milliseconds>(slowness * 300ms, 900ms);

}  // namespace afar::test
