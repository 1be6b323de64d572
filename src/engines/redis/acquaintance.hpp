// What an engine learns of its servers when they greet it: whether it wants them, whether they are
// still those that granted what is held, and what can be expected of them.
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/dial.hpp"
#include "engines/visits.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace afar::engines::redis {

class acquaintance {
 public:
  acquaintance(target to, std::shared_ptr<visits> v, spi::host& up)
      : to_(std::move(to)), visits_(std::move(v)), up_(up) {}

  // A failure refuses the server. Another run than the last time: all that is held is in doubt.
  spi::status greet(const server&);

  // Replicas that must confirm a grant.
  std::int64_t confirmations_wanted() const noexcept;
  // How long no claim shall be granted: leases of before a restart may still run.
  spi::milliseconds unsettled(spi::time_point now) const noexcept;

 private:
  const target to_;
  const std::shared_ptr<visits> visits_;
  spi::host& up_;
  std::atomic<std::int64_t> replicas_{0};  // the most that one server had
  std::atomic<spi::time_point> settled_{spi::time_point::min()};

  std::mutex m_;
  std::map<std::string, std::string> runs_;  // by server; with Sentinels: of whoever is master
};

}  // namespace afar::engines::redis
