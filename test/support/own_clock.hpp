// A server's wall clock that a test sets; see clock_shim.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace afar::test {

// Its own can be set by shift_clock; it costs the server a little.
enum class wall_clock : std::uint8_t { ours, its_own };

class own_clock {
 public:
  explicit own_clock(const std::string& folder) : file_(folder + "/clock") {}

  // That much before or behind ours, at once. Call it before the server starts, too.
  void shift(std::chrono::nanoseconds) const;
  // For the server.
  std::vector<std::string> environment() const;

 private:
  std::string file_;
};

}  // namespace afar::test
