// Makes sure that replicas know of a grant before it counts (?replication=).
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/request.hpp"
#include "engines/redis/servers.hpp"
#include "engines/redis/steps.hpp"

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <memory>

namespace afar::engines::redis {

// How many of them must confirm. A majority counts the master.
constexpr std::int64_t wanted(replication how, std::int64_t replicas) noexcept {
  switch (how) {
    case replication::none:
      return 0;
    case replication::any:
      return 1;
    case replication::majority:
      return (replicas + 1) / 2;
    case replication::all:
      return replicas;
  }
  return 0;
}

// Sends an acquisition. If it is granted, asks over the same connection (over another one the answer
// means nothing) how many replicas have it; if those are fewer than `wanted`, releases it and fails
// with errc::unavailable.
void acquire_replicated(const std::shared_ptr<servers>&, const claim_steps&, spi::claim&,
                        const telling&, std::int64_t wanted, spi::time_point by,
                        spi::done<spi::acquire_reply>);

}  // namespace afar::engines::redis
