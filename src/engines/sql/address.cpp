#include "engines/sql/address.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace afar::engines::sql {
namespace {

constexpr std::uint32_t most_connections = 64;

// One of two words; the first is the default.
bool second_of(const spi::url& where, const std::string& key, std::string_view first,
               std::string_view second) {
  const auto at = where.options.find(key);
  if (at == where.options.end() || at->second == first) return false;
  if (at->second == second) return true;
  throw std::invalid_argument{key + " is " + std::string{first} + " or " + std::string{second}};
}

std::string text_of(const spi::url& where, const std::string& key) {
  const auto at = where.options.find(key);
  return at == where.options.end() ? std::string{} : at->second;
}

std::uint32_t connections_of(const spi::url& where, std::uint32_t otherwise) {
  const std::string text = text_of(where, "connections");
  if (text.empty()) return otherwise;
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n == 0 || n > most_connections)
    throw std::invalid_argument{"connections is a number from 1 to 64"};
  return n;
}

}  // namespace

target target_of(const spi::url& where) {
  target to;
  to.product = where.scheme.starts_with("mysql") ? product::mysql : product::postgres;
  to.servers = where.hosts;
  if (to.servers.empty()) to.servers.push_back({"127.0.0.1", 0});
  for (auto& s : to.servers)
    if (s.port == 0) s.port = to.product == product::mysql ? 3306 : 5432;
  to.user = where.user;
  to.password = where.password;
  to.database = where.path.starts_with('/') ? where.path.substr(1) : where.path;
  if (to.database.empty() || to.database.find('/') != std::string::npos)
    throw std::invalid_argument{"the path is the name of a database, as in ://host/locks"};
  to.tls = where.scheme.ends_with("s");
  to.ca = text_of(where, "ca");
  to.cert = text_of(where, "cert");
  to.key = text_of(where, "key");
  if (!to.tls && !(to.ca.empty() && to.cert.empty() && to.key.empty()))
    throw std::invalid_argument{"ca, cert and key are for " + where.scheme + "s:// URLs"};
  to.connections = connections_of(where, to.connections);
  to.bells = !second_of(where, "bell", "on", "off");
  to.accepts_galera = second_of(where, "galera", "refuse", "accept");
  to.printable = where.printable;
  return to;
}

}  // namespace afar::engines::sql
