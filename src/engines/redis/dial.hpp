// Makes a connection: resolves, connects, shakes hands, says HELLO, chooses the database. All of it by
// a deadline.
#pragma once

#include "engines/redis/address.hpp"
#include "engines/redis/resp.hpp"
#include "engines/redis/wire.hpp"

#include <afar/spi/engine.hpp>

#include <asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::redis {

// What the server says of itself.
struct server {
  std::string at;  // its address
  std::string version;
  std::string role;      // master, replica
  std::string mode;      // standalone, cluster, sentinel
  std::string run;       // a new one after every restart; empty: INFO is not allowed
  std::string eviction;  // maxmemory_policy; likewise
  std::string memory;    // maxmemory, in bytes; likewise
  std::string bits;      // 64; likewise
  std::int64_t connection = 0;
  std::int64_t up_for = 0;       // seconds
  std::int64_t clock = 0;        // in microseconds, when it greeted us; 0: it does not tell
  std::int64_t replicas = 0;     // that are connected
  bool forgets_nothing = false;  // the AOF is written before every answer; only if asked for
};

struct dialed {
  spi::status failure = {};
  bool nobody_there = false;   // refused, or no such host: not a server that is slow to answer
  std::string_view hint = {};  // why it may be silent, while it is
  redis::server server = {};
};

// A connection that the new one replaces; none if the number is 0.
struct predecessor {
  std::int64_t connection = 0;
  std::string run = {};
};

// By `over`, which ends the dialing when it is closed. A server that still is the one of `before` is
// told to end that connection first: a request that is still on its way through it must not be
// carried out after what is sent here.
asio::awaitable<dialed> dial(std::shared_ptr<wire> over, address to, predecessor before,
                             spi::milliseconds most);

// Connects, and asks a server that needs no more than a login: a Sentinel. Answers to `words`, which
// is `count` commands; fewer if the login was refused.
struct asked {
  spi::status failure = {};
  bool nobody_there = false;
  std::string_view hint = {};
  std::vector<reply> answers = {};
};
asio::awaitable<asked> ask(std::shared_ptr<wire> over, address to, std::string words,
                           std::size_t count, spi::milliseconds most);

}  // namespace afar::engines::redis
