// The whole demo: processes that contend for one lock and one stock while some of them are killed and
// paused. The figures at the end come from what the processes recorded, see record.hpp.
#pragma once

#include "demo/run.hpp"

#include <string>

namespace afar::cli::demo {

// On `url`; empty: on the embedded engine in a folder of this run. True: every promise was kept.
// Throws lock_error if the engine cannot be used.
bool play(const options&, const std::string& url);

}  // namespace afar::cli::demo
