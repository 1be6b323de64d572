#include "engines/registry.hpp"

#include "engines/wrap/faults.hpp"
#include "engines/wrap/faulty_engine.hpp"
#include "engines/wrap/traced_engine.hpp"

#ifdef AFAR_WITH_EMBEDDED
#include "engines/embedded/embedded.hpp"
#endif
#ifdef AFAR_WITH_MEMORY
#include "engines/memory/memory_engine.hpp"
#endif
#ifdef AFAR_WITH_REDIS
#include "engines/redis/redis.hpp"
#endif
#ifdef AFAR_WITH_ZOOKEEPER
#include "engines/zookeeper/zookeeper.hpp"
#endif
#ifdef AFAR_WITH_SQL
#include "engines/sql/sql.hpp"
#endif

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string_view>

namespace afar::engines {
namespace {

using names = std::span<const std::string_view>;
using factory = std::unique_ptr<spi::engine> (*)(const spi::url&, spi::host&, spi::time_point);

#ifdef AFAR_WITH_EMBEDDED
constexpr std::string_view embedded_options[] = {"durable"};
#endif
#ifdef AFAR_WITH_REDIS
constexpr std::string_view redis_options[] = {
    "after_restart", "ca",     "cert",          "database",    "eviction",
    "key",           "layout", "longest_lease", "replication", "sentinel_password",
    "sentinel_user"};
#endif
#ifdef AFAR_WITH_ZOOKEEPER
constexpr std::string_view zookeeper_options[] = {"layout", "paths", "session", "width"};
#endif
#ifdef AFAR_WITH_SQL
constexpr std::string_view sql_options[] = {"bell", "ca", "cert", "connections", "galera", "key"};
#endif

// A new engine adds its line here.
struct scheme {
  std::string_view name;
  factory open;
  names options;
};
constexpr scheme schemes[] = {
#ifdef AFAR_WITH_EMBEDDED
    {"file", open_embedded, embedded_options},
    {"local", open_embedded, embedded_options},
#endif
#ifdef AFAR_WITH_MEMORY
    {"memory", memory::open_memory, {}},
#endif
#ifdef AFAR_WITH_REDIS
    {"redis", open_redis, redis_options},
    {"redis+cluster", open_redis, redis_options},
    {"redis+quorum", open_redis_quorum, redis_options},
    {"redis+sentinel", open_redis, redis_options},
    {"redis+unix", open_redis, redis_options},
    {"rediss", open_redis, redis_options},
    {"rediss+cluster", open_redis, redis_options},
    {"rediss+quorum", open_redis_quorum, redis_options},
    {"rediss+sentinel", open_redis, redis_options},
#endif
#ifdef AFAR_WITH_ZOOKEEPER
    {"zookeeper", open_zookeeper, zookeeper_options},
#endif
#ifdef AFAR_WITH_SQL
    {"mysql", open_sql, sql_options},
    {"mysqls", open_sql, sql_options},
    {"postgresql", open_sql, sql_options},
    {"postgresqls", open_sql, sql_options},
#endif
    {{}, nullptr, {}},  // an array has at least one element
};

std::unique_ptr<spi::engine> wrap_traced(const spi::url&, spi::host& up, const wrap::opener& open) {
  return std::make_unique<wrap::traced_engine>(up, open);
}

std::unique_ptr<spi::engine> wrap_faulty(const spi::url& where, spi::host& up,
                                         const wrap::opener& open) {
  return std::make_unique<wrap::faulty_engine>(up, open, wrap::read_faults(where.options));
}

struct wrapper {
  std::string_view prefix;
  std::unique_ptr<spi::engine> (*open)(const spi::url&, spi::host&, const wrap::opener&);
  names (*options)() noexcept;
};
constexpr wrapper wrappers[] = {
    {"faulty+", wrap_faulty, wrap::fault_options},
    {"traced+", wrap_traced, []() noexcept { return names{}; }},
};

const wrapper* outermost(std::string_view scheme_name) {
  const auto w = std::ranges::find_if(
      wrappers, [&](const wrapper& x) { return scheme_name.starts_with(x.prefix); });
  return w == std::end(wrappers) ? nullptr : w;
}

std::string listed(std::vector<std::string_view> words) {
  std::ranges::sort(words);
  std::string out;
  for (const std::string_view w : words) (out += out.empty() ? "" : ", ") += w;
  return out.empty() ? "none" : out;
}

const scheme& find_scheme(std::string_view name, const spi::url& where) {
  std::vector<std::string_view> known;
  for (const scheme& s : schemes) {
    if (!s.open) continue;
    if (s.name == name) return s;
    known.push_back(s.name);
  }
  for (const wrapper& w : wrappers) known.push_back(w.prefix);
  throw lock_error{errc::bad_url, where.printable,
                   "no engine serves \"" + std::string{name} + "\" (known: " + listed(known) + ")"};
}

void check_options(const spi::url& where) {
  std::vector<std::string_view> known{where.client_options.begin(), where.client_options.end()};
  std::string_view rest = where.scheme;
  for (const wrapper* w = outermost(rest); w; w = outermost(rest)) {
    const names more = w->options();
    known.insert(known.end(), more.begin(), more.end());
    rest.remove_prefix(w->prefix.size());
  }
  const names more = find_scheme(rest, where).options;
  known.insert(known.end(), more.begin(), more.end());
  for (const auto& option : where.options)
    if (std::ranges::find(known, option.first) == known.end())
      throw lock_error{errc::bad_url, where.printable,
                       "no option \"" + option.first + "\" (known: " + listed(known) + ")"};
}

std::unique_ptr<spi::engine> open_layer(const spi::url& where, spi::host& up, spi::time_point by) {
  const wrapper* w = outermost(where.scheme);
  if (!w) return find_scheme(where.scheme, where).open(where, up, by);

  spi::url inner = where;
  inner.scheme.erase(0, w->prefix.size());
  for (const std::string_view option : w->options()) inner.options.erase(std::string{option});
  return w->open(where, up, [&](spi::host& h) { return open_layer(inner, h, by); });
}

}  // namespace

std::unique_ptr<spi::engine> open(const spi::url& where, spi::host& up, spi::time_point by) try {
  check_options(where);
  return open_layer(where, up, by);
} catch (const std::invalid_argument& wrong) {  // a value in the query
  throw lock_error{errc::bad_url, where.printable, wrong.what()};
}

}  // namespace afar::engines
