#include "database.hpp"

#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

namespace sale {
namespace {

class sqlite final : public database {
 public:
  explicit sqlite(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK)
      throw database_error{"cannot open " + path, false};
    sqlite3_busy_timeout(db_, 20'000);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = OFF");
  }
  ~sqlite() override { sqlite3_close(db_); }
  rows run(const std::string& text) override {
    rows out;
    char* why = nullptr;
    const auto add = [](void* to, int n, char** values, char**) {
      auto& row = static_cast<rows*>(to)->emplace_back();
      for (int i = 0; i < n; ++i) row.emplace_back(values[i] ? values[i] : "");
      return 0;
    };
    const int rc = sqlite3_exec(db_, text.c_str(), add, &out, &why);
    if (rc != SQLITE_OK) {
      const std::string said = why ? why : "SQLite failed";
      sqlite3_free(why);
      throw database_error{said, rc == SQLITE_BUSY || rc == SQLITE_LOCKED};
    }
    changed = sqlite3_changes(db_);
    return out;
  }
  const char* begin() const override { return "BEGIN IMMEDIATE"; }

 private:
  sqlite3* db_ = nullptr;
};

// user[:password]@host[:port]/database
struct address {
  explicit address(std::string text) {
    const auto cut = [&](char mark, bool needed) {
      const auto at = text.find(mark);
      if (at == std::string::npos && needed)
        throw database_error{"a URL of orders is user[:password]@host[:port]/database", false};
      std::string head = text.substr(0, at);
      text = at == std::string::npos ? std::string{} : text.substr(at + 1);
      return head;
    };
    cut('/', true);
    cut('/', true);
    user = cut('@', true);
    host = cut('/', true);
    database = text;
    if (const auto at = user.find(':'); at != std::string::npos) {
      password = user.substr(at + 1);
      user.resize(at);
    }
    if (const auto at = host.find(':'); at != std::string::npos) {
      port = host.substr(at + 1);
      host.resize(at);
    }
  }
  std::string user, password, host, port, database;
};

class mysql final : public database {
 public:
  explicit mysql(const address& at) {
    static std::once_flag once;
    std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
    my_ = mysql_init(nullptr);
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    mysql_optionsv(my_, MYSQL_OPT_PROTOCOL, &tcp);
    const auto port = static_cast<unsigned>(std::atoi(at.port.c_str()));
    // CLIENT_FOUND_ROWS: a write that changes nothing counts; see fence_check in <afar/sql.hpp>.
    if (!mysql_real_connect(my_, at.host.c_str(), at.user.c_str(), at.password.c_str(),
                            at.database.c_str(), port, nullptr, CLIENT_FOUND_ROWS)) {
      const std::string said = mysql_error(my_);
      mysql_close(my_);
      throw database_error{said, false};
    }
    run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  }
  ~mysql() override { mysql_close(my_); }
  rows run(const std::string& text) override {
    if (mysql_real_query(my_, text.data(), text.size()) != 0) {
      const unsigned code = mysql_errno(my_);
      throw database_error{mysql_error(my_), code == 1213 || code == 1205};
    }
    rows out;
    changed = static_cast<long>(mysql_affected_rows(my_));
    MYSQL_RES* result = mysql_store_result(my_);
    if (!result) return out;
    const unsigned columns = mysql_num_fields(result);
    while (MYSQL_ROW row = mysql_fetch_row(result)) {
      auto& to = out.emplace_back();
      for (unsigned i = 0; i < columns; ++i) to.emplace_back(row[i] ? row[i] : "");
    }
    mysql_free_result(result);
    return out;
  }
  std::string insert_if_absent(const std::string& table, const std::string& values) const override {
    return "INSERT IGNORE INTO " + table + " VALUES (" + values + ")";
  }

 private:
  MYSQL* my_ = nullptr;
};

class postgres final : public database {
 public:
  explicit postgres(const std::string& url) : pq_(PQconnectdb(url.c_str())) {
    if (PQstatus(pq_) != CONNECTION_OK) {
      const std::string said = PQerrorMessage(pq_);
      PQfinish(pq_);
      throw database_error{said, false};
    }
    run("SET client_min_messages = warning");
    run("SET default_transaction_isolation = 'read committed'");
  }
  ~postgres() override { PQfinish(pq_); }
  rows run(const std::string& text) override {
    PGresult* r = PQexec(pq_, text.c_str());
    const auto state = PQresultStatus(r);
    if (state != PGRES_TUPLES_OK && state != PGRES_COMMAND_OK) {
      const char* code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
      const std::string_view c = code ? code : "";
      const database_error e{PQresultErrorMessage(r), c == "40001" || c == "40P01" || c == "55P03"};
      PQclear(r);
      throw e;
    }
    rows out;
    for (int i = 0; i < PQntuples(r); ++i) {
      auto& to = out.emplace_back();
      for (int k = 0; k < PQnfields(r); ++k) to.emplace_back(PQgetvalue(r, i, k));
    }
    changed = std::atol(PQcmdTuples(r));
    PQclear(r);
    return out;
  }

 private:
  PGconn* pq_;
};

}  // namespace

transaction::~transaction() {
  if (over_) return;
  try {
    on_.run("ROLLBACK");
  } catch (const database_error&) {  // the server has undone it by itself
  }
}

void transaction::commit() {
  on_.run("COMMIT");
  over_ = true;
}

std::unique_ptr<database> database::open(const std::string& url) {
  if (url.starts_with("sqlite:")) return std::make_unique<sqlite>(url.substr(7));
  if (url.starts_with("mysql://")) return std::make_unique<mysql>(address{url.substr(6)});
  if (url.starts_with("postgresql://")) return std::make_unique<postgres>(url);
  throw database_error{"orders are kept at sqlite:/path, mysql://… or postgresql://…: " + url,
                       false};
}

}  // namespace sale
