// The process of `afar run` that holds the lock; see front.cpp.
#pragma once

#include "run_plan.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace afar::cli {

// Acquires, runs the command, releases. Returns the exit code, having reported every failure.
int keep(const run_plan&, const signals&, const terminal&, int end) noexcept;

}  // namespace afar::cli
