#include "engines/redis/address.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace afar::engines::redis {
namespace {

std::uint32_t database_of(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  if (path.empty()) return 0;
  std::uint32_t n = 0;
  const char* end = path.data() + path.size();
  const auto [stop, failed] = std::from_chars(path.data(), end, n);
  if (failed != std::errc{} || stop != end)
    // Not shown: "redis:user:password@host" is all path.
    throw std::invalid_argument{"the path is no number of a database: redis://host:port/0"};
  return n;
}

void check_choice(const spi::url& where, const std::string& option, std::string_view only) {
  const auto chosen = where.options.find(option);
  if (chosen != where.options.end() && chosen->second != only)
    throw std::invalid_argument{option + "=" + chosen->second + ": " + std::string{only} +
                                " is allowed"};
}

}  // namespace

address address_of(const spi::url& where) {
  if (where.hosts.size() > 1) throw std::invalid_argument{"redis:// takes one host"};
  check_choice(where, "eviction", "accept");
  address to;
  if (!where.hosts.empty()) {
    if (!where.hosts[0].name.empty()) to.host = where.hosts[0].name;
    if (where.hosts[0].port != 0) to.port = where.hosts[0].port;
  }
  to.user = where.user;
  to.password = where.password;
  to.database = database_of(where.path);
  to.accepts_eviction = where.options.contains("eviction");
  return to;
}

}  // namespace afar::engines::redis
