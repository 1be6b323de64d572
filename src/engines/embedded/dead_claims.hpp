// What dead processes still seem to hold or wait for. It is in nobody's way: whoever wants such a name
// frees it. But a person who looks at a folder wants to know.
#pragma once

#include "engines/embedded/store.hpp"

#include <set>

namespace afar::engines::embedded {

struct dead_claims {
  std::size_t names = 0;
  std::set<session_id> sessions;  // whose they are
};

// Looks at every name; changes nothing, but steps do their chores in passing.
spi::status find_dead(store&, spi::time_point by, dead_claims&);

}  // namespace afar::engines::embedded
