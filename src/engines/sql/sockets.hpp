// What the engine does with the sockets of the client libraries.
#pragma once

namespace afar::engines::sql {

// The other side has closed, or sent what nobody has asked for.
bool hung_up(int fd) noexcept;

// Something has come, or it is broken.
bool readable(int fd) noexcept;

// A peer that vanished is noticed within seconds instead of hours.
void keep_alive(int fd) noexcept;

}  // namespace afar::engines::sql
