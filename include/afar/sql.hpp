// For programs that talk SQL themselves: the fence of a row, and the pessimistic lock of one. Both are
// text for a connection of the caller's own; afar never uses it otherwise.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace afar::sql {

// A name of a table or column that can stand in a statement as it is: letters, digits and '_', not
// beginning with a digit; a '.' between the parts of `schema.table`. Throws std::invalid_argument for
// anything else. A word that SQL itself uses is refused by the server.
inline std::string_view identifier(std::string_view name) {
  bool begins = true;  // a part
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (begins ? !letter : !letter && !digit && c != '.')
      throw std::invalid_argument{"not a name of a table or column: " + std::string{name}};
    begins = c == '.';
  }
  if (begins) throw std::invalid_argument{"a name of a table or column is empty, or a part of it"};
  return name;
}

namespace detail {
// Throws std::invalid_argument for a token that nobody was given.
inline std::string number(std::uint64_t token) {
  if (token == 0) throw std::invalid_argument{"0 is the token of nobody: is the lock held?"};
  if (token >> 63 != 0) throw std::invalid_argument{"a token is too large for a BIGINT"};
  return std::to_string(token);
}
}  // namespace detail

// The check on the protected side, in a row. `column` is a BIGINT of it, NOT NULL DEFAULT 0:
//   "UPDATE accounts SET balance = ?, " + fence_set("fence", t) + " WHERE id = ? AND " + fence_check("fence", t)
// finds nothing (0 rows) if a newer holder has written. The row has to be there, and every write of it has
// to carry the check. MySQL and MariaDB report the rows that *changed*, so that a holder who writes what is
// there already sees 0 as well: connect with CLIENT_FOUND_ROWS, or change something each time.
inline std::string fence_check(std::string_view column, std::uint64_t token) {
  return std::string{identifier(column)} + " <= " + detail::number(token);
}
inline std::string fence_set(std::string_view column, std::uint64_t token) {
  return std::string{identifier(column)} + " = " + detail::number(token);
}

// What to do about a row that somebody else has locked.
enum class if_locked : std::uint8_t {
  wait,  // as long as the server waits: set innodb_lock_wait_timeout or lock_timeout before
  fail,  // NOWAIT: an error at once
  skip   // SKIP LOCKED: no row, as if there were none
};

// A pessimistic lock on one row, for callers who are in a transaction of their own anyway:
//   sql::row_lock lock{[&](const std::string& text) { return my_query(text); }, "accounts", "id = 42"};
// Holds from here to the end of that transaction, whoever ends it. Limits:
//   - outside of a transaction (autocommit) it ends with its own statement and locks nothing;
//   - no unlock, no lease, no token, no notice of loss: a client that is stopped holds it until the server
//     ends its session; it needs a connection and an open transaction for as long;
//   - two who lock two rows in different orders meet, and the database fails one of them (MySQL 1213,
//     PostgreSQL 40P01): roll back and begin again, or lock in one order;
//   - it waits for as long as the session is set to: 50 s in MySQL, for ever in PostgreSQL;
//   - not through a pooler that gives every statement another session.
// For anything else use afar::mutex. MariaDB (10.6 for skip), MySQL 8, PostgreSQL.
class row_lock {
 public:
  // `query` runs one statement and returns how many rows came back; what it throws, this throws.
  // `condition` is SQL of the caller's own: put no foreign text into it.
  template <class Query>
  row_lock(Query&& query, std::string_view table, std::string_view condition,
           if_locked otherwise = if_locked::wait)
      : found_(query(statement(table, condition, otherwise)) > 0) {}
  row_lock(const row_lock&) = delete;
  row_lock& operator=(const row_lock&) = delete;

  // False: there is no such row, or it was skipped; then nothing is locked.
  explicit operator bool() const noexcept { return found_; }

  // Locks through the primary key, please: without an index MariaDB locks every row that it looks at.
  static std::string statement(std::string_view table, std::string_view condition,
                               if_locked otherwise = if_locked::wait) {
    std::string text = "SELECT 1 FROM ";
    text.append(identifier(table)).append(" WHERE ").append(condition).append(" FOR UPDATE");
    switch (otherwise) {
      case if_locked::wait:
        break;
      case if_locked::fail:
        text += " NOWAIT";
        break;
      case if_locked::skip:
        text += " SKIP LOCKED";
        break;
    }
    return text;
  }

 private:
  bool found_;
};

}  // namespace afar::sql
