// The table of the orders: an SQLite file, MariaDB or PostgreSQL. Only numbers are put into statements.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace sale {

using rows = std::vector<std::vector<std::string>>;

struct database_error : std::runtime_error {
  database_error(const std::string& what, bool worth_another_try)
      : std::runtime_error(what), again(worth_another_try) {}
  bool again;  // a deadlock, or somebody else had it for too long: roll back and begin again
};

class database {
 public:
  // "sqlite:/path", "mysql://user:password@host:port/db" or "postgresql://…".
  static std::unique_ptr<database> open(const std::string& url);
  virtual ~database() = default;

  virtual rows run(const std::string& text) = 0;  // throws database_error
  virtual const char* begin() const { return "BEGIN"; }
  // Does nothing (changed == 0) if there is a row of that key.
  virtual std::string insert_if_absent(const std::string& table, const std::string& values) const {
    return "INSERT INTO " + table + " VALUES (" + values + ") ON CONFLICT DO NOTHING";
  }

  long changed = 0;  // rows that the last statement found and wrote
};

// A transaction that is undone unless it was committed.
class transaction {
 public:
  explicit transaction(database& on) : on_(on) { on_.run(on_.begin()); }
  transaction(const transaction&) = delete;
  transaction& operator=(const transaction&) = delete;
  ~transaction();
  void commit();

 private:
  database& on_;
  bool over_ = false;
};

}  // namespace sale
