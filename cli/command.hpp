// From words to a verb that runs.
#pragma once

#include <string>
#include <vector>

namespace afar::cli {

// The words after "afar". Returns the exit code; reports every failure on stderr.
int run_verb(const std::vector<std::string>& words) noexcept;

}  // namespace afar::cli
