// System calls by strace, for kernels that let nobody else count them.
#pragma once

#include "peers.hpp"

#include <optional>
#include <string>

namespace bench {

// Of a pair of one worker. The program is run for a short and for a longer while, so that what starts and ends it does
// not count. None if strace cannot be used here.
std::optional<double> traced_calls(const peer_entry&, const std::string& url);

}  // namespace bench
