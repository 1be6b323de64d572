// Torture runs over servers of the test's own. script/torture_runs and script/soak start them, each test
// in a process of its own, and sum up what they report.
#pragma once

#include "torture/torture.hpp"

namespace afar::test {

// Runs it for AFAR_TORTURE_SECONDS (20) with AFAR_TORTURE_WORKERS processes (6) and the seed
// AFAR_TORTURE_SEED, and expects it to be green. Prints the report; with AFAR_TORTURE_REPORTS also
// writes it there as a page and as JSON, named like the test.
torture::verdict torment(torture::settings);

}  // namespace afar::test
