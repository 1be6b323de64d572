// Ports and plain conversations on the loopback device.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace afar::test {

// Free when we look; somebody else may be quicker.
std::uint16_t free_port();

// Sends `words` over a connection of its own. The bytes that come within a second (or `quiet`, if that is
// longer), up to a pause of `quiet` or the end of the connection; empty if nobody is there.
std::string ask_port(std::uint16_t port, const std::string& words,
                     std::chrono::milliseconds quiet = std::chrono::milliseconds{20});

}  // namespace afar::test
