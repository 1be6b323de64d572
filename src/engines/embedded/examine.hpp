// What a person should know of a folder that is open: where it lies, how much room is left, who uses
// it and whose clock it keeps.
#pragma once

#include "engines/embedded/store.hpp"

#include <afar/upkeep.hpp>

#include <vector>

namespace afar::engines::embedded {

// Throws failure if the folder cannot be looked at.
std::vector<finding> examine(store&, spi::time_point by);

}  // namespace afar::engines::embedded
