// What there is: one name, or all names a page at a time.
#pragma once

#include "engines/redis/servers.hpp"
#include "engines/redis/steps.hpp"

#include <afar/spi/engine.hpp>

#include <memory>

namespace afar::engines::redis {

void survey(const std::shared_ptr<servers>&, const claim_steps&, const spi::survey_query&,
            spi::time_point by, spi::done<spi::survey_reply>);

}  // namespace afar::engines::redis
