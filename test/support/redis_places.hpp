// The servers of a test run, started when somebody first asks for one. What stands behind
// "redis+sentinel://" and the like in AFAR_TEST_URLS:
//   redis://{redis}  redis+unix://{unix}  rediss://{tls}  redis://{acl}
//   redis+sentinel://{sentinel}  redis+cluster://{cluster}  redis+quorum://{quorum3}  …{quorum5}
#pragma once

#include "support/certificates.hpp"
#include "support/redis_topologies.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace afar::test {

// What a user of the ACL needs for names with this prefix, and no more: the rule of
// docs/engines/redis.md. As words of a command.
std::vector<std::string> least_rights(const std::string& user, const std::string& password,
                                      const std::string& prefix);

class redis_places {
 public:
  static constexpr std::string_view kinds[] = {"redis",    "unix",    "tls",     "acl",
                                               "sentinel", "cluster", "quorum3", "quorum5"};

  std::string address(std::string_view kind);

 private:
  std::string start(std::string_view kind);
  std::string start_voters(int n);
  redis_server& add(std::vector<std::string> options = {});

  std::map<std::string, std::string, std::less<>> started_;
  std::vector<std::unique_ptr<redis_server>> servers_;
  std::unique_ptr<certificates> certificates_;
  std::unique_ptr<sentinel_group> sentinels_;
  std::unique_ptr<redis_cluster> cluster_;
};

}  // namespace afar::test
