// Durations as people write and read them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace afar::cli {

using std::chrono::milliseconds;

// "500ms", "30s", "10m", "1h30m", "2d", "0.5s"; a bare number is seconds. Nothing: it is none.
std::optional<milliseconds> parse_duration(std::string_view) noexcept;

// For people, at most two units: "0.4s", "27s", "3m12s", "6d02h".
std::string show(milliseconds);

}  // namespace afar::cli
