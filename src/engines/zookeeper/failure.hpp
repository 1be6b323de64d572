// What libzookeeper's codes mean for a step.
#pragma once

#include <afar/spi/engine.hpp>

namespace afar::engines::zookeeper {

// `rc` is not ZOK. A write whose answer is lost has an unknown outcome; a read has not.
spi::status failure_of_write(int rc);
spi::status failure_of_read(int rc);

}  // namespace afar::engines::zookeeper
