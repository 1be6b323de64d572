#include "engines/zookeeper/target.hpp"

#include <charconv>
#include <stdexcept>

namespace afar::engines::zookeeper {
namespace {

constexpr std::uint16_t usual_port = 2181;

// "15s", "1500ms", or seconds without a unit.
spi::milliseconds read_time(const std::string& text) {
  std::int64_t n = 0;
  const auto got = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string unit{got.ptr, text.data() + text.size()};
  const bool in_ms = unit == "ms";
  if (got.ec != std::errc{} || n <= 0 || n > 1'000'000 || !(in_ms || unit == "s"))
    throw std::invalid_argument{"session=" + text + " (like 15s or 1500ms)"};
  return in_ms ? spi::milliseconds{n} : spi::milliseconds{n * 1'000};
}

template <class Read>
void option(const spi::url& where, const char* name, Read read) {
  if (const auto at = where.options.find(name); at != where.options.end()) read(at->second);
}

std::string base_of(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  if (path.empty()) return target{}.base;
  if (path.find("//") != std::string::npos || path == "/zookeeper" ||
      path.starts_with("/zookeeper/") || path.find('%') != std::string::npos)
    throw std::invalid_argument{"no place for names: " + path};
  return path;
}

}  // namespace

target target_of(const spi::url& where) {
  target to;
  for (const auto& h : where.hosts) {
    if (!to.servers.empty()) to.servers += ',';
    const bool v6 = h.name.find(':') != std::string::npos;
    to.servers += v6 ? '[' + h.name + ']' : h.name;
    to.servers += ':' + std::to_string(h.port == 0 ? usual_port : h.port);
  }
  if (to.servers.empty()) to.servers = "127.0.0.1:" + std::to_string(usual_port);
  to.base = base_of(where.path);
  if (!where.user.empty()) to.login = spi::secret{where.user + ':' + where.password.reveal()};
  option(where, "session", [&](const std::string& v) { to.session = read_time(v); });
  option(where, "width", [&](const std::string& v) {
    if (v != "4" && v != "8") throw std::invalid_argument{"width=" + v + " (4 or 8)"};
    to.counter_width = v == "4" ? 4 : 8;
  });
  option(where, "paths", [&](const std::string& v) {
    if (v != "curator") throw std::invalid_argument{"paths=" + v + " (curator)"};
    to.names_are_paths = true;
  });
  option(where, "layout", [&](const std::string& v) {
    if (v != "curator" && v != "semaphore-mutex" && v != "leader-selector")
      throw std::invalid_argument{"layout=" + v + " (curator, semaphore-mutex or leader-selector)"};
    to.mutex_is_semaphore = v == "semaphore-mutex";
    to.election_is_mutex = v == "leader-selector";
  });
  return to;
}

}  // namespace afar::engines::zookeeper
