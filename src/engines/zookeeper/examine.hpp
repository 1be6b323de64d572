// What a person should know of the servers before he trusts them with locks (afar doctor).
#pragma once

#include "engines/zookeeper/world.hpp"

#include <afar/spi/engine.hpp>

#include <memory>
#include <vector>

namespace afar::engines::zookeeper {

void examine(const world_ptr&, std::shared_ptr<pledge<std::vector<finding>>>);

}  // namespace afar::engines::zookeeper
