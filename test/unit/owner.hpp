// Claimants of tests are small numbers.
#pragma once

#include <afar/spi/engine.hpp>

#include <cstdint>

namespace afar::test {

inline spi::owner_id owner(std::uint64_t number) { return {7, 7, number}; }

}  // namespace afar::test
