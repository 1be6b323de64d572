// What the tests of databases have in common. Each runs on MariaDB and on PostgreSQL.
#pragma once

#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/renewed_lease.hpp"
#include "support/sql_server.hpp"
#include "support/waiting.hpp"

#include "engines/sql/dial.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace afar::test {

using session = engines::sql::connection;

inline engines::sql::target target_of(const sql_server& server) {
  const bool maria = server.what() == database::mariadb;
  engines::sql::target to;
  to.product = maria ? engines::sql::product::mysql : engines::sql::product::postgres;
  to.servers = {{"127.0.0.1", server.port()}};
  to.user = maria ? "afar" : "postgres";
  to.password = spi::secret{"secret"};
  to.database = maria ? "afar" : "postgres";
  to.accepts_galera = true;
  return to;
}

// A session of somebody who knows nothing of afar.
inline std::unique_ptr<session> open_session(const sql_server& server) {
  return engines::sql::dial(target_of(server), boot_clock::now() + 5s);
}

inline std::string first_field(session& on, const std::string& query) {
  const auto answer = on.run(query);
  return answer.rows.empty() ? std::string{} : answer.rows[0][0].text;
}

// No hand-over inside a client: every grant is one of the server's, with one token.
inline client open_client(const std::string& url, client_options o = {}) {
  o.handoff = 0;
  return client{url, std::move(o)};
}

class sql_test : public ::testing::TestWithParam<database> {
 protected:
  static bool maria() { return GetParam() == database::mariadb; }
  const std::string name = fresh_name();
};

inline std::string database_name(const ::testing::TestParamInfo<database>& of) {
  return of.param == database::mariadb ? "mariadb" : "postgresql";
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): gtest's own macro wants a literal suite name
#define AFAR_FOR_EVERY_DATABASE(suite)                                                             \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      , suite, ::testing::Values(afar::test::database::mariadb, afar::test::database::postgresql), \
      afar::test::database_name)

}  // namespace afar::test
