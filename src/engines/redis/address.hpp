// Where a Redis URL points: redis://[user[:password]@]host[:port][/database].
#pragma once

#include <afar/spi/url.hpp>

#include <cstdint>
#include <string>

namespace afar::engines::redis {

struct address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  std::string user;
  spi::secret password;
  std::uint32_t database = 0;
  bool accepts_eviction = false;  // ?eviction=accept: a server that may drop keys when it is full
};

// Throws std::invalid_argument, which the registry turns into errc::bad_url.
address address_of(const spi::url&);

}  // namespace afar::engines::redis
