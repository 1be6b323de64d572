// The servers' wall clock, as this client can know it: ZooKeeper tells no time, but dates every write.
// Reservations and windows of stocks count on it, so that all clients mean the same moment.
#pragma once

#include "engines/zookeeper/session.hpp"
#include "engines/zookeeper/target.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <chrono>
#include <mutex>
#include <optional>

namespace afar::engines::zookeeper {

class server_clock {
 public:
  server_clock(session& s, const target& to) : session_(s), node_(to.base + "/%clock") {}

  // Asks if what is known is older than a minute. `rc`: ZNONODE if the base is not there yet.
  void ask(detail::function<void(int rc)> then);
  spi::milliseconds now() const;  // since 1970

 private:
  void read(bool create, detail::function<void(int rc)> then);

  session& session_;
  const std::string node_;
  mutable std::mutex m_;
  std::optional<std::chrono::nanoseconds> ahead_;  // of the boot clock
  spi::time_point asked_{};
};

}  // namespace afar::engines::zookeeper
