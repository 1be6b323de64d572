#include "engines/redis/address.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace afar::engines::redis {
namespace {

constexpr std::uint16_t sentinel_port = 26'379;

std::string option(const spi::url& where, const std::string& name) {
  const auto at = where.options.find(name);
  return at == where.options.end() ? std::string{} : at->second;
}

std::uint32_t database_number(std::string_view text) {
  if (text.empty()) return 0;
  std::uint32_t n = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, failed] = std::from_chars(begin, end, n);
  if (failed != std::errc{} || stop != end)
    // Not quoted: in a URL without "//" this is where the password is.
    throw std::invalid_argument{"the path is no number of a database: redis://host:port/0"};
  return n;
}

void check_choice(const spi::url& where, const std::string& name, std::string_view only) {
  const auto chosen = where.options.find(name);
  if (chosen != where.options.end() && chosen->second != only)
    throw std::invalid_argument{name + "=" + chosen->second + ": " + std::string{only} +
                                " is allowed"};
}

// "1500ms" or "30s".
spi::milliseconds duration_of(std::string_view text) {
  std::int64_t n = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string_view unit{read.ptr, text.data() + text.size()};
  if (read.ec != std::errc{} || n < 0 || n > 86'400'000 || (unit != "ms" && unit != "s"))
    throw std::invalid_argument{"longest_lease=" + std::string{text} + ": write 1500ms or 30s"};
  return spi::milliseconds{unit == "s" ? n * 1'000 : n};
}

std::string without_slash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return std::string{path};
}

void check_login(const spi::url& where) {
  const bool named =
      where.options.contains("sentinel_user") || where.options.contains("sentinel_password");
  if (named && !where.scheme.ends_with("+sentinel"))
    throw std::invalid_argument{"sentinel_user and sentinel_password are for redis+sentinel://"};
}

void read_policy(const spi::url& where, target& out) {
  constexpr std::pair<std::string_view, replication> words[] = {{"none", replication::none},
                                                                {"any", replication::any},
                                                                {"majority", replication::majority},
                                                                {"all", replication::all}};
  if (const std::string how = option(where, "replication"); !how.empty()) {
    const auto* const at = std::ranges::find(words, how, [](const auto& w) { return w.first; });
    if (at == std::end(words))
      throw std::invalid_argument{"replication=" + how + ": none, any, majority and all are known"};
    out.replication = at->second;
  }
  out.waits_after_restart = where.options.contains("after_restart");
  out.login.asks_durability = out.waits_after_restart;
  if (const std::string text = option(where, "longest_lease"); !text.empty())
    out.longest_lease = duration_of(text);
}

std::shared_ptr<const tls_context> tls_of(const spi::url& where) {
  const tls_files files{option(where, "ca"), option(where, "cert"), option(where, "key")};
  if (where.scheme.starts_with("rediss")) return std::make_shared<tls_context>(files);
  if (!files.ca.empty() || !files.cert.empty() || !files.key.empty())
    throw std::invalid_argument{"ca, cert and key are for TLS: " + where.scheme + " has none"};
  return nullptr;
}

// What all servers of the URL have in common.
address login_of(const spi::url& where) {
  address to;
  to.user = where.user;
  to.password = where.password;
  to.database = database_number(option(where, "database"));
  to.tls = tls_of(where);
  return to;
}

std::vector<address> hosts_of(const spi::url& where, const address& login, std::uint16_t port) {
  std::vector<address> all;
  for (const auto& host : where.hosts) {
    address to = login;
    to.host = host.name;
    to.port = host.port != 0 ? host.port : port;
    all.push_back(std::move(to));
  }
  if (all.empty()) {
    all.push_back(login);
    all.back().port = port;
  }
  return all;
}

void take_database_from_path(const spi::url& where, address& login) {
  const std::string path = without_slash(where.path);
  if (path.empty()) return;
  if (where.options.contains("database"))
    throw std::invalid_argument{"the database is named twice, in the path and as an option"};
  login.database = database_number(path);
}

void read_single(const spi::url& where, target& out) {
  if (where.hosts.size() > 1) throw std::invalid_argument{where.scheme + ":// takes one host"};
  take_database_from_path(where, out.login);
  out.servers = hosts_of(where, out.login, out.login.port);
}

void read_unix(const spi::url& where, target& out) {
  // A user and a password need a host behind them.
  const bool here =
      where.hosts.empty() || (where.hosts.size() == 1 && where.hosts[0].name == "localhost");
  if (!here || where.path.size() < 2)
    throw std::invalid_argument{
        "a Unix socket is redis+unix:///path, or with a user "
        "redis+unix://user:password@localhost/path"};
  out.login.path = where.path;
  out.servers = {out.login};
}

void read_sentinel(const spi::url& where, target& out) {
  out.topology = topology::sentinel;
  out.master = without_slash(where.path);
  if (out.master.empty() || out.master.find('/') != std::string::npos)
    throw std::invalid_argument{
        "the name of the master is missing: redis+sentinel://host,host/name"};
  // The Sentinels have users of their own.
  address sentinel;
  sentinel.user = option(where, "sentinel_user");
  sentinel.password = spi::secret{option(where, "sentinel_password")};
  sentinel.tls = out.login.tls;
  out.servers = hosts_of(where, sentinel, sentinel_port);
}

void read_cluster(const spi::url& where, target& out) {
  out.topology = topology::cluster;
  take_database_from_path(where, out.login);
  if (out.login.database != 0) throw std::invalid_argument{"a cluster has one database, 0"};
  out.servers = hosts_of(where, out.login, out.login.port);
}

}  // namespace

std::string address::text() const {
  if (!path.empty()) return path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

target target_of(const spi::url& where) {
  check_choice(where, "eviction", "accept");
  check_choice(where, "after_restart", "wait");
  target out;
  out.accepts_eviction = where.options.contains("eviction");
  check_login(where);
  out.login = login_of(where);
  read_policy(where, out);
  if (where.scheme.ends_with("+unix"))
    read_unix(where, out);
  else if (where.scheme.ends_with("+sentinel"))
    read_sentinel(where, out);
  else if (where.scheme.ends_with("+cluster"))
    read_cluster(where, out);
  else
    read_single(where, out);
  return out;
}

}  // namespace afar::engines::redis
