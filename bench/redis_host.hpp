// A redis-server of one measurement, on one core, that is gone with its object.
#pragma once

#include "support/redis_server.hpp"

#include <cstdint>
#include <string>

namespace bench {

class redis_host {
 public:
  explicit redis_host(int core);

  std::string url() const { return server_.url(); }
  std::string url(const std::string& layout) const { return url() + "?layout=" + layout; }
  pid_t pid() const noexcept { return server_.pid(); }
  std::uint64_t requests() const;  // of clients so far; what scripts call is not one

 private:
  afar::test::redis_server server_;
};

}  // namespace bench
