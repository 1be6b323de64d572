// The engine for the processes of one machine: no server, one folder. See docs/engines/embedded.md.
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <memory>

namespace afar::engines {

// `local:` or `file:///path`. Throws lock_error.
std::unique_ptr<spi::engine> open_embedded(const spi::url&, spi::host&, spi::time_point by);

}  // namespace afar::engines
