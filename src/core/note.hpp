// What a claim says of itself: who holds it, for people, and what a leader proclaims. Stored with the
// claim as "key=value" lines, at most 1 KiB; informative only, never trusted. The line of the value is
// the last one and runs to the end, whatever bytes it has; in the others control characters become blanks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace afar::detail {

inline constexpr std::size_t longest_note = 1'024;
inline constexpr std::size_t longest_value = 512;

struct note {
  std::string host = {};
  std::int64_t pid = 0;
  std::string user = {};
  std::string command = {};
  std::string label = {};
  std::string value = {};  // proclaimed by a leader; any bytes

  std::string encode() const;                     // cuts command and label if it must
  static note decode(std::string_view) noexcept;  // ignores what it does not know

  // The command is the program's name without its arguments: others see it, and arguments hold secrets.
  static note of_this_process(std::string_view label);
};

}  // namespace afar::detail
