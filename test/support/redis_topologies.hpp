// Groups of real redis-servers: a master with its Sentinels, a cluster. Start them on the main thread.
#pragma once

#include "support/redis_server.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {

// How soon the others believe that a silent server is dead. Patient where no failover is wanted: a
// busy machine must not cause one.
enum class nerves : std::uint8_t { patient, quick };

// A master, two replicas and three Sentinels. Call the master "m".
class sentinel_group {
 public:
  explicit sentinel_group(nerves);

  std::string url() const;       // redis+sentinel://…/m
  redis_server& master() const;  // whom the Sentinels name
  // Waits until the Sentinels name another server than this one, and it takes writes.
  bool promoted_after(const redis_server& old) const;

  std::vector<std::unique_ptr<redis_server>> servers;
  std::vector<std::unique_ptr<redis_server>> sentinels;
};

// Three masters with a third of the slots each, and three replicas.
class redis_cluster {
 public:
  explicit redis_cluster(nerves);

  std::string url() const;                                // redis+cluster://…
  redis_server& master_of(const std::string& key) const;  // by the word of a server that is up
  bool promoted_after(const redis_server& old, const std::string& key) const;
  // The number of a slot's server has by the cluster's own words.
  std::string id_of(const redis_server&) const;

  std::vector<std::unique_ptr<redis_server>> servers;

 private:
  redis_server& alive() const;
};

// The text of a bulk string in an answer of redis_server::ask; the whole answer if it is none.
std::string text_of(const std::string& answer);

}  // namespace afar::test
