// zookeeper://
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <memory>

namespace afar::engines {

std::unique_ptr<spi::engine> open_zookeeper(const spi::url&, spi::host&, spi::time_point by);

}  // namespace afar::engines
