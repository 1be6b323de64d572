// One of the processes that contend.
#pragma once

#include "demo/run.hpp"

namespace afar::cli::demo {

// Works until the control file says stop or somebody kills it. Returns the exit code.
int work(const place& where, std::uint32_t worker, std::uint32_t life,
         std::chrono::nanoseconds between_orders);

}  // namespace afar::cli::demo
