// The barrier's part of claims.cpp. The line of a barrier is one generation that is not yet full.
// As soon as it is full or broken it turns into verdicts, and the next arrival starts a new
// generation.
#pragma once

#include "engines/records/claims.hpp"

namespace afar::engines::records {

// Nullopt: this owner has no verdict. A verdict is kept until it expires or is released, so that an
// acquire whose answer was lost finds it again instead of arriving a second time.
std::optional<spi::status> verdict_of(const claims&, const spi::claim&, spi::acquire_reply&);

// A claim without a verdict arrives, or looks again. One that waited before and that nobody knows of any
// more is late by so much that its verdict is forgotten: it is broken, and not counted in the next round.
spi::status arrive(claims&, const spi::claim&, const moment&, spi::acquire_reply&, effects&);

// For engines, after an acquire that was answered: a claim that waits at a barrier says so when it asks
// again, in its `place`.
void note_wait(spi::claim&, const spi::acquire_reply&);

// How long what became of a round is remembered: as long as anybody may ask again.
milliseconds verdict_life(const moment&);

// Everybody in line is told that the barrier is broken. Those whose own time is over too: they may
// come back late, and must not open the next generation by accident.
void break_generation(claims&, const moment&, effects&);

}  // namespace afar::engines::records
