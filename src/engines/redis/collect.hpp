// Clears away what the steps clear away in passing (afar gc). Redis itself drops what has a lease.
#pragma once

#include "engines/redis/servers.hpp"

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <memory>

namespace afar::engines::redis {

// Looks at all keys of the database. With very many keys it stops half way to the deadline, and says
// what it has removed until then.
void collect(const std::shared_ptr<servers>&, spi::time_point by, spi::done<std::uint64_t>);

}  // namespace afar::engines::redis
