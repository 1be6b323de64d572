// The servers behind an engine: over which connection a request goes, and where channels are heard.
#pragma once

#include "engines/redis/request.hpp"

#include <afar/spi/engine.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::redis {

class servers {
 public:
  // Renewals have connections of their own, which only the engine's thread reads: a lease must not
  // depend on a user's thread being scheduled.
  enum class way : std::uint8_t { commands, renewals };

  virtual ~servers() = default;

  // Connects; throws lock_error if that is not possible by then, or must be refused.
  virtual void open(spi::time_point by, const std::string& printable) = 0;
  virtual void close() noexcept = 0;
  virtual bool away() const noexcept { return false; }  // opened all the same

  // A script goes to the server of its first key.
  virtual void submit(std::unique_ptr<request>, way = way::commands) = 0;

  // Names lie on several servers: a script may only have keys of one name.
  virtual bool spread() const noexcept { return false; }
  // For commands without a key. A number keeps its part of the names when another server takes over.
  virtual std::size_t count() = 0;
  virtual void submit_to(std::size_t number, std::unique_ptr<request>) = 0;

  // Whether those who watch over the servers are well (afar doctor).
  virtual void examine_group(spi::time_point, spi::done<std::vector<finding>> then) {
    then({}, {});
  }

  virtual void watch(std::string channel, spi::done<spi::watch_reply>) = 0;
  virtual void unwatch(std::string channel) = 0;
  // Whether this claim's grant was told lately: it may have come before anybody watched for it.
  virtual bool told(std::string_view owner) = 0;

  virtual bool drive(spi::waiter& w, spi::time_point until) noexcept {
    w.park_until(until);
    return false;
  }
  virtual void nudge() noexcept {}
  virtual void glance() noexcept {}  // hears what has come
};

}  // namespace afar::engines::redis
