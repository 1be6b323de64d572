// The steps of claims, each a small machine over flights. They begin on the caller's thread and go on
// wherever answers land.
#pragma once

#include "engines/zookeeper/world.hpp"

#include <afar/spi/engine.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace afar::engines::zookeeper {

using acquire_pledge = std::shared_ptr<pledge<spi::acquire_reply>>;

// mutex, fair_mutex, shared_mutex, election
void contend(const world_ptr&, const standing_ptr&, const spi::claim&, acquire_pledge);
// a hold of a shared_mutex that is acquired again: upgrade, downgrade, or a repeated request
void convert(const world_ptr&, const standing_ptr&, const spi::claim&, acquire_pledge);
void take_permits(const world_ptr&, const standing_ptr&, const spi::claim&, acquire_pledge);
void arrive(const world_ptr&, const standing_ptr&, const spi::claim&, acquire_pledge);

void renew(const world_ptr&, std::span<spi::claim* const>, spi::time_point by, spi::renewed each);
void release(const world_ptr&, const spi::claim&, std::shared_ptr<pledge<spi::release_reply>>);
// For a step of this claim: what is given up by time is known to its release.
acquire_pledge pledged_step(const world_ptr&, const standing_ptr&, spi::time_point by,
                            spi::done<spi::acquire_reply>);
// A member that leaves a barrier breaks it for the others.
void leave_barrier(const world_ptr&, const standing_ptr&,
                   detail::function<void(spi::status, bool removed)> then);

// Granted: what every kind does then.
void grant(const world_ptr&, const standing_ptr&, spi::milliseconds wanted, const acquire_pledge&);
// Removes the claim's nodes, forgets it and answers with `why`; without one: refused.
void refuse(const world_ptr&, const standing_ptr&, const acquire_pledge&, spi::status why = {});

// What else lies under a name besides claims of this kind: errc::wrong_use, or nothing. `names` and
// `stat` are those of the name's node. Clears away what nobody uses.
void check_use(const world_ptr&, const std::string& path, spi::kind wanted,
               const std::vector<std::string>& names, const Stat& stat,
               detail::function<void(spi::status)> then);

}  // namespace afar::engines::zookeeper
