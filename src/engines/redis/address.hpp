// What a Redis URL says: which servers, how to log in there, and what the client demands of them.
//   redis://[user[:password]@]host[:port][/database]     rediss:// the same over TLS
//   redis+unix:///path                                   ?database=n
//   redis+sentinel://host[:port][,…]/master              ?database=n
//   redis+cluster://host[:port][,…]
#pragma once

#include "engines/redis/tls.hpp"

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace afar::engines::redis {

// One server, and how to log in there.
struct address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  std::string path = {};  // of a Unix socket; then host and port mean nothing
  std::string user = {};
  spi::secret password = {};
  std::uint32_t database = 0;
  std::shared_ptr<const tls_context> tls = {};  // null: plain
  bool asks_durability = false;                 // whether the AOF is written at once

  // "host:port", as people and the servers of a cluster write it.
  std::string text() const;
};

enum class topology : std::uint8_t { single, sentinel, cluster };

// How many replicas must have confirmed a grant before it counts.
enum class replication : std::uint8_t { none, any, majority, all };

struct target {
  redis::topology topology = topology::single;
  std::vector<address> servers = {};  // what the URL names; of sentinel: the Sentinels
  std::string master = {};            // sentinel: the name of the master
  address login = {};                 // sentinel: how to log in to the master, host and port apart
  bool accepts_eviction = false;  // ?eviction=accept: a server that may drop keys when it is full
  redis::replication replication = replication::none;
  bool waits_after_restart = false;  // ?after_restart=wait: no grant until old leases are over
  spi::milliseconds longest_lease{30'000};  // of all clients
  bool voter = false;                       // one server of a quorum
  bool pushes_grants = false;               // who is told of a grant holds: no question follows
};

// Throws std::invalid_argument, which the registry turns into errc::bad_url, or lock_error if TLS is
// wanted and OpenSSL is missing.
target target_of(const spi::url&);

}  // namespace afar::engines::redis
