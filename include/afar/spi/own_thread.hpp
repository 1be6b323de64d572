// Threads that the core or an engine made. Closing a client may wait for them, so a client whose last
// owner goes on one of them is closed elsewhere.
#pragma once

namespace afar::spi {

// An engine's thread that runs completions sets it when it starts.
inline thread_local bool own_thread = false;

}  // namespace afar::spi
