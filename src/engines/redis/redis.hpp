// Opens redis:// URLs. Apart from the engine itself, so that the registry needs no Asio.
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <memory>

namespace afar::engines {

// Throws lock_error if the server cannot be reached by then, or must be refused.
std::unique_ptr<spi::engine> open_redis(const spi::url&, spi::host&, spi::time_point by);

// redis+quorum://a,b,c: each host is an independent server. Throws lock_error if a majority of them
// cannot be reached by then.
std::unique_ptr<spi::engine> open_redis_quorum(const spi::url&, spi::host&, spi::time_point by);

}  // namespace afar::engines
