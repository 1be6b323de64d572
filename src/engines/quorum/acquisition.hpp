// One claim put to the vote.
#pragma once

#include "engines/quorum/voters.hpp"

namespace afar::engines::quorum {

// All voters are asked at once. With enough votes the largest of their tokens is made known to as
// many in a second round: two majorities may differ in the voter whose clock is ahead, and without
// that round the next token could be smaller. Without enough votes those that were given are returned.
void acquire(voters_ptr, spi::claim&, spi::time_point by, spi::done<spi::acquire_reply>);

}  // namespace afar::engines::quorum
