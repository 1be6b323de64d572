// What a person should know of a server before he trusts it with locks (afar doctor).
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/servers.hpp"

#include <afar/spi/engine.hpp>

#include <memory>
#include <vector>

namespace afar::engines::redis {

// Asks with INFO, TIME, CONFIG GET and ACL DRYRUN; says so where one of them is not allowed.
// `channel`: where this client hears of its grants.
void examine(const std::shared_ptr<servers>&, const address&, const std::string& channel,
             spi::time_point by, spi::done<std::vector<finding>>);

}  // namespace afar::engines::redis
