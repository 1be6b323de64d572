// Torture runs over servers of the test's own.
#pragma once

#include "torture/torture.hpp"

#include <string>

namespace afar::test {

// Prints the report; with AFAR_TORTURE_REPORTS set also writes it there as a page and as JSON.
torture::verdict torment(torture::settings, const std::string& name);

}  // namespace afar::test
