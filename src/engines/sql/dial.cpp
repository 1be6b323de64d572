#include "engines/sql/dial.hpp"

#include "engines/sql/mysql/mysql.hpp"
#include "engines/sql/postgres/postgres.hpp"

#include <algorithm>
#include <charconv>

namespace afar::engines::sql {
namespace {

constexpr std::int64_t schema_version = 1;

std::unique_ptr<connection> connect(const target& to, const spi::url::host& at,
                                    spi::time_point by) {
  return to.product == product::mysql ? mysql::connect(to, at, by) : postgres::connect(to, at, by);
}

void check(const server_facts& s, const target& to) {
  if (s.read_only)
    throw failure{{errc::unavailable, "the server is a standby or read-only; name the primary"}};
  if (s.galera && !to.accepts_galera)
    throw failure{
        {errc::unsupported,
         "a Galera cluster answers many steps with conflicts, and each node counts leases "
         "on its own clock; ?galera=accept uses it all the same"}};
}

// Nullopt: there are no tables yet.
std::optional<std::int64_t> stored_version(connection& c, product p) {
  const answer found = c.run(p == product::mysql ? mysql::version_query : postgres::version_query);
  if (found.rows.empty() || found.rows[0][0].text != "1") return std::nullopt;
  const answer version = c.run("SELECT version FROM afar_schema");
  if (version.rows.empty()) return std::nullopt;
  const std::string& text = version.rows[0][0].text;
  std::int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

std::unique_ptr<connection> dial(const target& to, spi::time_point by) {
  failure last{{errc::unavailable, "no server"}};
  for (const auto& at : to.servers) {
    try {
      auto made = connect(to, at, by);
      check(made->about(), to);
      return made;
    } catch (failure& f) {
      if (to.servers.size() > 1)
        f.what.detail = at.name + ":" + std::to_string(at.port) + ": " + f.what.detail.str();
      last = std::move(f);
    }
  }
  throw failure{last};
}

std::vector<std::string> schema_of(product p) {
  const auto from = p == product::mysql ? mysql::schema() : postgres::schema();
  return {from.begin(), from.end()};
}

void prepare_schema(connection& c, product p) {
  const auto version = stored_version(c, p);
  if (version && *version > schema_version)
    throw failure{{errc::unsupported, "its tables were made by a newer afar (schema " +
                                          std::to_string(*version) + "); use that one"}};
  if (version) return;
  const auto all = schema_of(p);
  try {
    for (const std::string& text : all) c.run(text);
  } catch (failure& f) {
    if (f.what.code != errc::denied) throw;
    std::string text = "may not create afar's tables; let somebody who may run:\n";
    for (const std::string& s : all) text += s + ";\n";
    throw failure{{errc::denied, text}};
  }
}

}  // namespace afar::engines::sql
