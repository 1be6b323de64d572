// What a majority holds, and how its voters are.
#pragma once

#include "engines/quorum/voters.hpp"

namespace afar::engines::quorum {

// A holder is one whom enough voters know. All names: a page of one voter after the other; a name that
// several know is told by the first of them.
void survey(const voters_ptr&, const spi::survey_query&, spi::time_point by,
            spi::done<spi::survey_reply>);

void examine(const voters_ptr&, spi::time_point by, spi::done<std::vector<finding>>);

}  // namespace afar::engines::quorum
