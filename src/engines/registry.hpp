// Which engine serves which URL scheme.
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <memory>
#include <string>
#include <vector>

namespace afar::engines {

// Opens the engine of `where` (wrappers such as "faulty+memory" included) or throws lock_error:
// errc::bad_url for an unknown scheme or option, else what the engine says. `by`: give up then.
std::unique_ptr<spi::engine> open(const spi::url& where, spi::host& up, spi::time_point by);

}  // namespace afar::engines
