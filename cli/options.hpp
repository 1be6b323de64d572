// CLI11 and the forms in which options are given here.
#pragma once

#include "duration.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <optional>
#include <string>

namespace afar::cli {

// An option whose value is a duration.
CLI::Option* add_duration(CLI::App&, const std::string& names, std::optional<milliseconds>& to,
                          const std::string& help);

}  // namespace afar::cli
