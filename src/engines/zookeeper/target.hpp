// What a ZooKeeper URL says.
//   zookeeper://[user:password@]host[:port][,…][/base]
// The base is where names lie; without one it is /afar.
#pragma once

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <cstdint>
#include <string>

namespace afar::engines::zookeeper {

struct target {
  std::string servers = {};  // as libzookeeper wants it: "a:2181,b:2181"
  std::string base = "/afar";
  spi::secret login = {};  // "user:password"; empty: none
  // Wanted; the servers may grant another. Two thirds of it are the usual lease.
  spi::milliseconds session{45'000};
  std::uint32_t counter_width = 8;  // ?width=4: as SharedCount and DistributedAtomicInteger
  bool names_are_paths = false;     // ?paths=curator
  bool mutex_is_semaphore = false;  // ?layout=semaphore-mutex
  bool election_is_mutex = false;   // ?layout=leader-selector
};

// Throws std::invalid_argument, which the registry turns into errc::bad_url.
target target_of(const spi::url&);

}  // namespace afar::engines::zookeeper
