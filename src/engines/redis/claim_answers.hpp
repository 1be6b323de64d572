// What steps on claims have in common in both layouts: which claims are refused unasked, and what the
// scripts' answers mean.
#pragma once

#include "engines/redis/request.hpp"
#include "engines/redis/steps.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <memory>
#include <span>
#include <string>

namespace afar::engines::redis {

spi::status bad_use(const spi::claim&);

// How long a refused claim keeps a place; 0: it takes none.
spi::milliseconds place_time(const spi::claim&) noexcept;

// Of a barrier: the server may have forgotten what became of the round in which this one last stood in
// line. (What it remembers for 2 minutes it knows for certain for one.)
bool was_silent_for_too_long(const spi::claim&) noexcept;

// Requests that have no words yet. `watch_key`: what wakes the claim if it is refused; empty: the
// grant that it is told of.
std::unique_ptr<request> acquiring(spi::claim&, std::string watch_key, spi::time_point by,
                                   spi::done<spi::acquire_reply>);
std::unique_ptr<request> releasing(spi::time_point by, spi::done<spi::release_reply>);
// `renewed` (may be empty) is told of each claim that was.
std::unique_ptr<request> renewing(std::span<spi::claim* const>, std::size_t first,
                                  std::shared_ptr<spi::renewed> each, spi::time_point by,
                                  detail::function<void(spi::claim&)> renewed = {});
// See keep_step.
std::unique_ptr<request> keeping(std::span<spi::claim* const>, std::size_t first,
                                 std::shared_ptr<spi::renewed> each, spi::time_point by,
                                 renew_again again);

}  // namespace afar::engines::redis
