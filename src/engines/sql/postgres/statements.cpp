// Every statement decides by the one row that it changes: PostgreSQL looks at that row again after it
// has waited for it, but at nothing else.
#include "engines/sql/postgres/postgres.hpp"

// Of this moment; now() is when the transaction began.
#define AFAR_NOW "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
// The columns say all, nobody watches, and nobody holds it (any more).
#define AFAR_FREE "plain = 1 AND watched_us <= " AFAR_NOW " AND until_us <= " AFAR_NOW
#define AFAR_ROW                                                                             \
  "kind, rings, plain, owner, since_us, renewed_us, until_us, renewals, token, last_token, " \
  "note, called, value, record"
#define AFAR_ROW_IN                                                                     \
  "$2::bigint, $3::bigint, $4::bigint, $5::bytea, $6::bigint, $7::bigint, $8::bigint, " \
  "$9::bigint, $10::bigint, $11::bigint, $12::bytea, $13::bytea, $14::bigint, $15::bytea"

namespace afar::engines::sql::postgres {
namespace {

// NOLINTBEGIN(bugprone-suspicious-missing-comma): texts of several lines are what this is full of
constexpr std::string_view texts[statements] = {
    // take: an UPDATE that finds nothing writes nothing, unlike ON CONFLICT DO UPDATE ... WHERE false.
    "WITH taken AS (UPDATE afar_names SET kind = $2::bigint, version = version + 1,"
    " owner = $3::bytea, since_us = " AFAR_NOW ", renewed_us = " AFAR_NOW ", until_us = " AFAR_NOW
    " + $4::bigint, renewals = 0, token = GREATEST(last_token + 1, " AFAR_NOW
    "), last_token = GREATEST(last_token + 1, " AFAR_NOW
    ") + $5::bigint, note = $6::bytea WHERE name = $1::bytea AND " AFAR_FREE " AND " AFAR_NOW
    " <= $7::bigint RETURNING token),"
    " made AS (INSERT INTO afar_names (name, kind, version, plain, owner, since_us, renewed_us,"
    " until_us, renewals, token, last_token, note) SELECT $1::bytea, $2::bigint, t, 1, $3::bytea, "
    "t,"
    " t, t + $4::bigint, 0, t, t + $5::bigint, $6::bytea FROM (SELECT " AFAR_NOW
    " AS t) AS clock WHERE t <= $7::bigint"
    " AND NOT EXISTS (SELECT 1 FROM afar_names WHERE name = $1::bytea)"
    " ON CONFLICT (name) DO NOTHING RETURNING token)"
    " SELECT token FROM taken UNION ALL SELECT token FROM made",
    // give
    "UPDATE afar_names SET owner = NULL, note = NULL, until_us = 0, version = version + 1"
    " WHERE name = $1::bytea AND owner = $2::bytea AND plain = 1 AND watched_us <= " AFAR_NOW
    " AND until_us > " AFAR_NOW,
    // join
    "UPDATE afar_names SET plain = 2, version = version + 1,"
    " record = COALESCE(record, ''::bytea) || convert_to((" AFAR_NOW
    ")::text, 'UTF8') || $3::bytea WHERE name = $1::bytea AND kind = $2::bigint AND plain <> 0"
    " AND until_us > " AFAR_NOW " AND owner <> $5::bytea AND " AFAR_NOW " <= $4::bigint",
    // extend
    "UPDATE afar_names SET renewed_us = " AFAR_NOW
    ", renewals = renewals + 1, token = GREATEST(token, $4::bigint),"
    " last_token = GREATEST(last_token, $4::bigint), version = version + 1, until_us = " AFAR_NOW
    " + $3::bigint WHERE name = $1::bytea AND owner = $2::bytea AND plain <> 0 AND note = $5::bytea"
    " AND until_us > " AFAR_NOW,
    // load
    "SELECT " AFAR_NOW ", version, watched_us, " AFAR_ROW
    " FROM (SELECT 1) AS always LEFT JOIN afar_names ON name = $1::bytea",
    // insert
    "INSERT INTO afar_names (name, " AFAR_ROW ", version) SELECT $1::bytea, " AFAR_ROW_IN
    ", " AFAR_NOW " WHERE " AFAR_NOW " <= $16::bigint ON CONFLICT (name) DO NOTHING",
    // update: the bells ring when it commits, which is the earliest moment that is not too early.
    "WITH done AS (UPDATE afar_names SET (" AFAR_ROW ", version) = ROW(" AFAR_ROW_IN
    ", version + 1) WHERE name = $1::bytea AND version = $17::bigint AND " AFAR_NOW
    " <= $16::bigint RETURNING 1)"
    " SELECT 1::bigint, rung.x FROM done LEFT JOIN LATERAL (SELECT"
    " pg_notify(split_part(told, ' ', 1), substr(told, strpos(told, ' ') + 1))::text AS x"
    " FROM unnest(string_to_array($18::text, ',')) AS told) AS rung ON true",
    // look
    "SELECT name, rings, called, owner, token, last_token, until_us - renewed_us FROM afar_names"
    " WHERE name IN"
    " ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
    // mark
    "INSERT INTO afar_names (name, kind, version, plain, watched_us) VALUES ($1::bytea, "
    "0, " AFAR_NOW ", 1, " AFAR_NOW
    " + $2::bigint) ON CONFLICT (name) DO UPDATE SET version = afar_names.version + 1,"
    " watched_us = EXCLUDED.watched_us",
    // listen
    "INSERT INTO afar_bells (name, bell, until_us) VALUES ($1::bytea, $2::bigint, " AFAR_NOW
    " + $3::bigint) ON CONFLICT (name, bell) DO UPDATE SET until_us = EXCLUDED.until_us",
    // listeners
    "SELECT bell FROM afar_bells WHERE name = $1::bytea AND until_us > " AFAR_NOW,
    // find_order
    "SELECT buyer, amount, state, due_us FROM afar_orders WHERE name = $1::bytea"
    " AND order_key = sha256($2::bytea)",
    // put_order
    "INSERT INTO afar_orders (name, order_key, order_id, buyer, amount, state, due_us, changed_us)"
    " VALUES ($1::bytea, sha256($2::bytea), $2::bytea, $3::bytea, $4::bigint, $5::bigint,"
    " $6::bigint, " AFAR_NOW
    ") ON CONFLICT (name, order_key) DO UPDATE SET buyer = EXCLUDED.buyer,"
    " amount = EXCLUDED.amount, state = EXCLUDED.state, due_us = EXCLUDED.due_us,"
    " changed_us = EXCLUDED.changed_us",
    // find_units
    "SELECT units FROM afar_buyers WHERE name = $1::bytea AND buyer_key = sha256($2::bytea)",
    // put_units
    "INSERT INTO afar_buyers (name, buyer_key, buyer, units) VALUES ($1::bytea, sha256($2::bytea),"
    " $2::bytea, $3::bigint) ON CONFLICT (name, buyer_key) DO UPDATE SET units = EXCLUDED.units",
    // due
    "SELECT due_us, order_id FROM afar_orders WHERE name = $1::bytea AND due_us <= $2::bigint"
    " ORDER BY due_us LIMIT 10000",
    // erase_orders
    "DELETE FROM afar_orders WHERE name = $1::bytea",
    // erase_units
    "DELETE FROM afar_buyers WHERE name = $1::bytea",
    // page
    "SELECT name, " AFAR_NOW ", version, watched_us, " AFAR_ROW
    " FROM afar_names WHERE name > $1::bytea AND kind <> 0 ORDER BY name LIMIT 200",
    // next_rows
    "SELECT name, " AFAR_NOW ", version, watched_us, " AFAR_ROW
    " FROM afar_names WHERE name > $1::bytea ORDER BY name LIMIT 200",
    // erase_name
    "DELETE FROM afar_names WHERE name = $1::bytea AND version = $2::bigint",
    // collect
    "DELETE FROM afar_names WHERE name IN (SELECT name FROM afar_names WHERE plain = 1"
    " AND until_us <= " AFAR_NOW " AND watched_us <= " AFAR_NOW " AND last_token < " AFAR_NOW
    " - $1::bigint AND version < " AFAR_NOW
    " - $1::bigint LIMIT 1000 FOR UPDATE SKIP LOCKED) AND plain = 1 AND until_us <= " AFAR_NOW
    " AND last_token < " AFAR_NOW " - $1::bigint",
    // forget_bells
    "DELETE FROM afar_bells WHERE until_us <= " AFAR_NOW,
};

// One text, so that it is one transaction: two clients that make the tables at once would meet.
constexpr std::string_view tables[] = {
    "SELECT pg_advisory_xact_lock(1634099570);\n"
    "CREATE TABLE IF NOT EXISTS afar_names (name bytea NOT NULL PRIMARY KEY, kind bigint NOT NULL,"
    " version bigint NOT NULL, rings bigint NOT NULL DEFAULT 0,"
    " watched_us bigint NOT NULL DEFAULT 0, plain bigint NOT NULL, owner bytea,"
    " since_us bigint NOT NULL DEFAULT 0, renewed_us bigint NOT NULL DEFAULT 0,"
    " until_us bigint NOT NULL DEFAULT 0, renewals bigint NOT NULL DEFAULT 0,"
    " token bigint NOT NULL DEFAULT 0, last_token bigint NOT NULL DEFAULT 0, note bytea,"
    " called bytea, value bigint, record bytea) WITH (fillfactor = 50,"
    " autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);\n"
    "CREATE TABLE IF NOT EXISTS afar_bells (name bytea NOT NULL, bell bigint NOT NULL,"
    " until_us bigint NOT NULL, PRIMARY KEY (name, bell));\n"
    "CREATE TABLE IF NOT EXISTS afar_orders (name bytea NOT NULL, order_key bytea NOT NULL,"
    " order_id bytea NOT NULL, buyer bytea NOT NULL, amount bigint NOT NULL, state bigint NOT NULL,"
    " due_us bigint, changed_us bigint NOT NULL, PRIMARY KEY (name, order_key));\n"
    "CREATE INDEX IF NOT EXISTS afar_orders_due ON afar_orders (name, due_us)"
    " WHERE due_us IS NOT NULL;\n"
    "CREATE TABLE IF NOT EXISTS afar_buyers (name bytea NOT NULL, buyer_key bytea NOT NULL,"
    " buyer bytea NOT NULL, units bigint NOT NULL, PRIMARY KEY (name, buyer_key));\n"
    // Last, because who finds it relies on the others.
    "CREATE TABLE IF NOT EXISTS afar_schema (only_one bigint NOT NULL PRIMARY KEY,"
    " version bigint NOT NULL);\n"
    "INSERT INTO afar_schema VALUES (1, 1) ON CONFLICT DO NOTHING",
};
// NOLINTEND(bugprone-suspicious-missing-comma)

}  // namespace

std::string_view text_of(statement s) noexcept { return texts[static_cast<std::size_t>(s)]; }
std::span<const std::string_view> schema() noexcept { return tables; }

}  // namespace afar::engines::sql::postgres
