// What a run is about, on the engine: how it comes there, and how it goes.
#pragma once

#include "torture/plan.hpp"

#include <afar/client.hpp>

#include <cstdint>

namespace afar::torture {

// Throws lock_error: errc::unsupported if the engine has no such thing.
void make(const client&, const object&);
// Of a counting_semaphore, in that round.
std::int64_t free_permits(const client&, const object&, std::uint64_t round);
// Values do not go by themselves; of what comes in rounds all up to `last`.
void erase(const client&, const object&, std::uint64_t last);

}  // namespace afar::torture
