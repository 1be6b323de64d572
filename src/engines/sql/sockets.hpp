// What the engine does with the sockets of the client libraries.
#pragma once

#include <cstdint>

namespace afar::engines::sql {

// What can be read now; `end`: the other side has closed, or it is broken.
enum class incoming : std::uint8_t { nothing, something, end };
incoming peek(int fd) noexcept;

inline bool hung_up(int fd) noexcept { return peek(fd) == incoming::end; }

// Something has come, or it is broken.
bool readable(int fd) noexcept;

// A peer that vanished is noticed within seconds instead of hours.
void keep_alive(int fd) noexcept;

}  // namespace afar::engines::sql
