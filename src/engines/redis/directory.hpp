// Says which server to dial. Asked before every dial, so that a connection follows a master that has
// moved.
#pragma once

#include "engines/redis/address.hpp"

#include <afar/spi/engine.hpp>

#include <asio/awaitable.hpp>

#include <utility>

namespace afar::engines::redis {

struct located {
  spi::status failure = {};
  bool nobody_there = false;  // as of a dial
  address to = {};
};

class directory {
 public:
  virtual ~directory() = default;
  virtual asio::awaitable<located> locate() = 0;  // on the engine's thread
};

// The URL names the server itself.
class fixed_address final : public directory {
 public:
  explicit fixed_address(address to) : to_(std::move(to)) {}
  asio::awaitable<located> locate() override {
    located here;
    here.to = to_;
    co_return here;
  }

 private:
  const address to_;
};

}  // namespace afar::engines::redis
