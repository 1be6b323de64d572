// Every statement touches one row by its primary key and commits by itself, so none of them can take
// part in a deadlock. Assignments of ON DUPLICATE KEY UPDATE happen from left to right: what a
// condition reads is assigned last.
#include "engines/sql/mysql/mysql.hpp"

#include <charconv>

// The server's clock in UTC; NOW() would lose an hour in the night when summer time ends.
#define AFAR_NOW "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"
// The columns say all, nobody watches, and nobody holds it (any more).
#define AFAR_FREE "plain = 1 AND watched_us <= " AFAR_NOW " AND until_us <= " AFAR_NOW
// The name; else NULL, which no row may have: 1048.
#define AFAR_IN_TIME(end) "IF(" AFAR_NOW " <= " end ", $1, NULL)"
#define AFAR_ROW                                                                             \
  "kind, rings, plain, owner, since_us, renewed_us, until_us, renewals, token, last_token, " \
  "note, called, value, record"

namespace afar::engines::sql::mysql {
namespace {

// NOLINTBEGIN(bugprone-suspicious-missing-comma): texts of several lines are what this is full of
constexpr std::string_view texts[statements] = {
    // take
    "INSERT INTO afar_names (name, kind, version, plain, owner, since_us, renewed_us, until_us,"
    " renewals, token, last_token, note)"
    " VALUES (" AFAR_IN_TIME("$7") ", $2, " AFAR_NOW ", 1, $3, " AFAR_NOW ", " AFAR_NOW ", " AFAR_NOW
    " + $4, 0, CAST(LAST_INSERT_ID(" AFAR_NOW ") AS SIGNED), " AFAR_NOW
    " + $5, $6)"
    " ON DUPLICATE KEY UPDATE"
    " token = IF(" AFAR_FREE ", CAST(LAST_INSERT_ID(GREATEST(last_token + 1, " AFAR_NOW
    ")) AS SIGNED), token),"
    " last_token = IF(" AFAR_FREE ", GREATEST(last_token + 1, " AFAR_NOW
    ") + $5, last_token),"
    " kind = IF(" AFAR_FREE ", $2, kind), owner = IF(" AFAR_FREE
    ", $3, owner),"
    " since_us = IF(" AFAR_FREE ", " AFAR_NOW ", since_us), renewed_us = IF(" AFAR_FREE
    ", " AFAR_NOW ", renewed_us), renewals = IF(" AFAR_FREE ", 0, renewals), note = IF(" AFAR_FREE
    ", $6, note), version = IF(" AFAR_FREE ", version + 1, version), until_us = IF(" AFAR_FREE
    ", " AFAR_NOW " + $4, until_us)",
    // give
    "UPDATE afar_names SET owner = NULL, note = NULL, until_us = 0, version = version + 1"
    " WHERE name = $1 AND owner = $2 AND plain = 1 AND watched_us <= " AFAR_NOW
    " AND until_us > " AFAR_NOW,
    // join
    "UPDATE afar_names SET plain = 2, version = version + 1,"
    " record = CONCAT(COALESCE(record, ''), " AFAR_NOW
    ", $3) WHERE name = $1 AND kind = $2 AND plain <> 0 AND until_us > " AFAR_NOW
    " AND owner <> $5 AND " AFAR_NOW " <= $4",
    // extend
    "UPDATE afar_names SET renewed_us = " AFAR_NOW
    ", renewals = renewals + 1, token = GREATEST(token, $4), last_token = GREATEST(last_token, $4),"
    " version = version + 1, until_us = " AFAR_NOW
    " + $3 WHERE name = $1 AND owner = $2 AND plain <> 0 AND note = $5 AND until_us > " AFAR_NOW,
    // load
    "SELECT " AFAR_NOW ", version, watched_us, " AFAR_ROW
    " FROM (SELECT 1 AS one) AS always LEFT JOIN afar_names ON name = $1",
    // insert
    "INSERT INTO afar_names (name, " AFAR_ROW
    ", version) VALUES (" AFAR_IN_TIME("$16") ", $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
    " $14, $15, " AFAR_NOW ")",
    // update
    "UPDATE afar_names SET kind = $2, rings = $3, plain = $4, owner = $5, since_us = $6,"
    " renewed_us = $7, until_us = $8, renewals = $9, token = $10, last_token = $11, note = $12,"
    " called = $13, value = $14, record = $15, version = version + 1"
    " WHERE name = $1 AND version = $17 AND " AFAR_NOW " <= $16",
    // look
    "SELECT name, rings, called, owner, token, last_token, until_us - renewed_us FROM afar_names"
    " WHERE name IN"
    " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
    // mark
    "INSERT INTO afar_names (name, kind, version, plain, watched_us) VALUES ($1, 0, " AFAR_NOW
    ", 1, " AFAR_NOW " + $2) ON DUPLICATE KEY UPDATE version = version + 1, watched_us = " AFAR_NOW
    " + $2",
    // listen
    "INSERT INTO afar_bells (name, bell, until_us) VALUES ($1, $2, " AFAR_NOW
    " + $3) ON DUPLICATE KEY UPDATE until_us = " AFAR_NOW " + $3",
    // listeners
    "SELECT bell FROM afar_bells WHERE name = $1 AND until_us > " AFAR_NOW,
    // find_order
    "SELECT buyer, amount, state, due_us FROM afar_orders WHERE name = $1"
    " AND order_key = UNHEX(SHA2($2, 256))",
    // put_order
    "INSERT INTO afar_orders (name, order_key, order_id, buyer, amount, state, due_us, changed_us)"
    " VALUES ($1, UNHEX(SHA2($2, 256)), $2, $3, $4, $5, $6, " AFAR_NOW
    ") ON DUPLICATE KEY UPDATE buyer = $3, amount = $4, state = $5, due_us = $6,"
    " changed_us = " AFAR_NOW,
    // find_units
    "SELECT units FROM afar_buyers WHERE name = $1 AND buyer_key = UNHEX(SHA2($2, 256))",
    // put_units
    "INSERT INTO afar_buyers (name, buyer_key, buyer, units)"
    " VALUES ($1, UNHEX(SHA2($2, 256)), $2, $3) ON DUPLICATE KEY UPDATE units = $3",
    // due
    "SELECT due_us, order_id FROM afar_orders WHERE name = $1 AND due_us <= $2"
    " ORDER BY due_us LIMIT 10000",
    // erase_orders
    "DELETE FROM afar_orders WHERE name = $1",
    // erase_units
    "DELETE FROM afar_buyers WHERE name = $1",
    // page
    "SELECT name, " AFAR_NOW ", version, watched_us, " AFAR_ROW
    " FROM afar_names WHERE name > $1 AND kind <> 0 ORDER BY name LIMIT 200",
    // next_rows
    "SELECT name, " AFAR_NOW ", version, watched_us, " AFAR_ROW
    " FROM afar_names WHERE name > $1 ORDER BY name LIMIT 200",
    // erase_name
    "DELETE FROM afar_names WHERE name = $1 AND version = $2",
    // collect
    "DELETE FROM afar_names WHERE plain = 1 AND until_us <= " AFAR_NOW
    " AND watched_us <= " AFAR_NOW " AND last_token < " AFAR_NOW " - $1 AND version < " AFAR_NOW
    " - $1 LIMIT 1000",
    // forget_bells
    "DELETE FROM afar_bells WHERE until_us <= " AFAR_NOW " LIMIT 1000",
};

constexpr std::string_view tables[] = {
    "CREATE TABLE IF NOT EXISTS afar_names (name VARBINARY(1024) NOT NULL PRIMARY KEY,"
    " kind SMALLINT NOT NULL, version BIGINT NOT NULL, rings BIGINT NOT NULL DEFAULT 0,"
    " watched_us BIGINT NOT NULL DEFAULT 0, plain SMALLINT NOT NULL, owner VARBINARY(64),"
    " since_us BIGINT NOT NULL DEFAULT 0, renewed_us BIGINT NOT NULL DEFAULT 0,"
    " until_us BIGINT NOT NULL DEFAULT 0, renewals BIGINT NOT NULL DEFAULT 0,"
    " token BIGINT NOT NULL DEFAULT 0, last_token BIGINT NOT NULL DEFAULT 0, note VARBINARY(1024),"
    " called VARBINARY(64), value BIGINT, record LONGBLOB) ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
    "CREATE TABLE IF NOT EXISTS afar_bells (name VARBINARY(1024) NOT NULL, bell BIGINT NOT NULL,"
    " until_us BIGINT NOT NULL, PRIMARY KEY (name, bell)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
    "CREATE TABLE IF NOT EXISTS afar_orders (name VARBINARY(1024) NOT NULL,"
    " order_key BINARY(32) NOT NULL, order_id BLOB NOT NULL, buyer BLOB NOT NULL,"
    " amount BIGINT NOT NULL, state SMALLINT NOT NULL, due_us BIGINT, changed_us BIGINT NOT NULL,"
    " PRIMARY KEY (name, order_key), KEY afar_orders_due (name, due_us))"
    " ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
    "CREATE TABLE IF NOT EXISTS afar_buyers (name VARBINARY(1024) NOT NULL,"
    " buyer_key BINARY(32) NOT NULL, buyer BLOB NOT NULL, units BIGINT NOT NULL,"
    " PRIMARY KEY (name, buyer_key)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
    // Last, because who finds it relies on the others.
    "CREATE TABLE IF NOT EXISTS afar_schema (only_one SMALLINT NOT NULL PRIMARY KEY,"
    " version BIGINT NOT NULL) ENGINE=InnoDB",
    "INSERT INTO afar_schema VALUES (1, 1) ON DUPLICATE KEY UPDATE version = version",
};
// NOLINTEND(bugprone-suspicious-missing-comma)

numbered numbered_of(std::string_view from) {
  numbered made;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != '$') {
      made.text += from[i];
      continue;
    }
    std::size_t n = 0;
    const auto end = std::from_chars(from.data() + i + 1, from.data() + from.size(), n).ptr;
    i = static_cast<std::size_t>(end - from.data()) - 1;
    made.text += '?';
    made.order.push_back(n - 1);
  }
  return made;
}

}  // namespace

std::string_view text_of(statement s) noexcept { return texts[static_cast<std::size_t>(s)]; }

const numbered& numbered_text(statement s) {
  static const auto all = [] {
    std::vector<numbered> made;
    made.reserve(statements);
    for (const std::string_view text : texts) made.push_back(numbered_of(text));
    return made;
  }();
  return all[static_cast<std::size_t>(s)];
}

std::span<const std::string_view> schema() noexcept { return tables; }

}  // namespace afar::engines::sql::mysql
