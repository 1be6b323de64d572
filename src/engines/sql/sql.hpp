// Opens mysql: and postgresql: URLs. Their client libraries are loaded by the first of them.
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <memory>

namespace afar::engines {

// Throws lock_error if no server can be reached by then, or must be refused.
std::unique_ptr<spi::engine> open_sql(const spi::url&, spi::host&, spi::time_point by);

}  // namespace afar::engines
