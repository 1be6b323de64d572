#include "redis_host.hpp"

#include "place.hpp"
#include "raw_redis.hpp"

#include <fmt/format.h>

#include <string>

namespace bench {

namespace {

afar::test::redis_server start_on(int core) {
  const pinned here{core};  // what is started here stays here
  return afar::test::redis_server{};
}

}  // namespace

redis_host::redis_host(int core) : server_(start_on(core)) {}

std::uint64_t redis_host::requests() const {
  raw_redis connection{url()};
  const raw_reply info = connection.ask(raw_command{{"INFO", "commandstats"}});
  const std::string text{info->str, info->len};
  std::uint64_t sum = 0;
  for (const char* command : {"eval", "evalsha", "subscribe", "unsubscribe"}) {
    const std::string mark = fmt::format("cmdstat_{}:calls=", command);
    if (const auto at = text.find(mark); at != text.npos)
      sum += std::stoull(text.substr(at + mark.size()));
  }
  return sum;
}

}  // namespace bench
