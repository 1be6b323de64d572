// Makes a connection: resolves, connects, says HELLO, chooses the database. All of it by a deadline.
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/resp.hpp"

#include <afar/spi/engine.hpp>

#include <asio/awaitable.hpp>
#include <asio/ip/tcp.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace afar::engines::redis {

// What the server says of itself.
struct server {
  std::string version;
  std::string role;      // master, replica
  std::string mode;      // standalone, cluster, sentinel
  std::string run;       // a new one after every restart; empty: INFO is not allowed
  std::string eviction;  // maxmemory_policy; likewise
  std::string memory;    // maxmemory, in bytes; likewise
  std::int64_t connection = 0;
};

struct dialed {
  spi::status failure = {};
  bool nobody_there = false;  // refused, or no such host: not a server that is slow to answer
  std::shared_ptr<asio::ip::tcp::socket> socket = {};
  redis::server server = {};
};

// By `socket`, which ends the dialing when it is closed. `before`: the connection that this one
// replaces. The server is told to end it first: a request that is still on its way through it must
// not be carried out after what is sent here. 0: none.
asio::awaitable<dialed> dial(std::shared_ptr<asio::ip::tcp::socket> socket, const address& to,
                             std::int64_t before, spi::milliseconds most);

}  // namespace afar::engines::redis
