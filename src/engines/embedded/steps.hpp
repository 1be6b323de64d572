// The engine's steps: each is one visit to a shard, all or nothing, and then the bells. They return
// what the engine answers and call nobody back.
#pragma once

#include "engines/embedded/store.hpp"

#include <afar/spi/engine.hpp>

#include <cstddef>
#include <span>

namespace afar::engines::embedded {

spi::status acquire(store&, spi::claim&, spi::time_point by, spi::acquire_reply&);
spi::status release(store&, const spi::claim&, spi::time_point by, spi::release_reply&);
spi::status evict(store&, const spi::resource&, const spi::owner_id&, std::uint64_t token,
                  spi::time_point by, spi::release_reply&);

// Visits every shard once. Fills replies[i] and failures[i] for claims[i].
void renew(store&, std::span<spi::claim* const> claims, spi::time_point by,
           std::span<spi::renew_reply> replies, std::span<spi::status> failures);

spi::status change(store&, const spi::cell_change&, spi::time_point by, spi::cell_reply&);
spi::status record(store&, const spi::ledger_change&, spi::time_point by, spi::ledger_reply&);
spi::status survey(store&, const spi::survey_query&, spi::time_point by, spi::survey_reply&);

// errc::bad_argument for what the layouts have no room for.
spi::status check_name(std::string_view name);

}  // namespace afar::engines::embedded
