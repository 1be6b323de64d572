#include "raw_sql.hpp"

#include "engines/sql/mysql/mysql.hpp"
#include "engines/sql/postgres/postgres.hpp"

#include <libpq-fe.h>
#include <mysql.h>
#include <poll.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using afar::engines::sql::statement;
using afar::engines::sql::mysql::text_of;

constexpr long long lease_us = 30'000'000;
constexpr long long kind_of_mutex = 1;
constexpr long long never = 9'000'000'000'000'000;  // µs since 1970
const std::string owner = "0123456789abcdef0123456789abcdef:1";
const std::string note = "a host, a process and what it was called with";

// ---- libmariadb -----------------------------------------------------------------------------------

class mysql_pairs final : public raw_sql {
 public:
  mysql_pairs(std::uint16_t port, std::string name)
      : name_(std::move(name)), my_(mysql_init(nullptr)) {
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    mysql_optionsv(my_, MYSQL_OPT_PROTOCOL, &tcp);
    if (!mysql_real_connect(my_, "127.0.0.1", "afar", "secret", "afar", port, nullptr, 0))
      throw std::runtime_error{mysql_error(my_)};
    if (mysql_query(my_, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
      throw std::runtime_error{mysql_error(my_)};
    take_ = prepare(statement::take,
                    {number(kind_of_mutex), number(lease_us), number(0), number(never)});
    give_ = prepare(statement::give, {});
  }
  ~mysql_pairs() override {
    mysql_stmt_close(take_);
    mysql_stmt_close(give_);
    mysql_close(my_);
  }

  void take() override {
    execute(take_);
    if (mysql_stmt_affected_rows(take_) == 0) throw std::runtime_error{"somebody has it"};
  }
  void give() override { execute(give_); }
  void listen() override { throw std::logic_error{"MariaDB has no notices"}; }
  void notify() override { listen(); }
  void await_notice() override { listen(); }

 private:
  static MYSQL_BIND text(const std::string& s) {
    MYSQL_BIND b{};
    b.buffer_type = MYSQL_TYPE_BLOB;
    b.buffer = const_cast<char*>(s.data());
    b.buffer_length = s.size();
    return b;
  }
  MYSQL_BIND number(long long n) {
    MYSQL_BIND b{};
    b.buffer_type = MYSQL_TYPE_LONGLONG;
    auto& at = numbers_[used_++];
    at = n;
    b.buffer = &at;
    return b;
  }

  // The engine numbers its parameters, the library wants them in their order. `numbers`: $2, $4, $5, $7
  // of take.
  MYSQL_STMT* prepare(statement s, const std::vector<MYSQL_BIND>& numbers) {
    const bool take = s == statement::take;
    std::vector<MYSQL_BIND> by_number{{}, text(name_)};
    if (take)
      by_number.insert(by_number.end(),
                       {numbers[0], text(owner), numbers[1], numbers[2], text(note), numbers[3]});
    else
      by_number.push_back(text(owner));
    std::string marked;
    std::vector<MYSQL_BIND> all;
    const std::string_view from = text_of(s);
    for (std::size_t i = 0; i < from.size(); ++i) {
      marked += from[i] == '$' ? '?' : from[i];
      if (from[i] == '$') all.push_back(by_number.at(static_cast<std::size_t>(from[++i] - '0')));
    }
    MYSQL_STMT* const st = mysql_stmt_init(my_);
    if (mysql_stmt_prepare(st, marked.data(), marked.size()) != 0 ||
        mysql_stmt_bind_param(st, all.data()) != 0)
      throw std::runtime_error{mysql_stmt_error(st)};
    return st;
  }
  static void execute(MYSQL_STMT* st) {
    if (mysql_stmt_execute(st) != 0) throw std::runtime_error{mysql_stmt_error(st)};
  }

  const std::string name_;
  std::array<long long, 8> numbers_{};
  std::size_t used_ = 0;
  MYSQL* my_;
  MYSQL_STMT* take_ = nullptr;
  MYSQL_STMT* give_ = nullptr;
};

// ---- libpq ----------------------------------------------------------------------------------------

class postgres_pairs final : public raw_sql {
 public:
  postgres_pairs(std::uint16_t port, std::string name) : name_(std::move(name)) {
    pq_ = PQconnectdb(
        ("host=127.0.0.1 user=postgres dbname=postgres port=" + std::to_string(port)).c_str());
    if (PQstatus(pq_) != CONNECTION_OK) throw std::runtime_error{PQerrorMessage(pq_)};
    for (const statement s : {statement::take, statement::give}) {
      const std::string text{afar::engines::sql::postgres::text_of(s)};
      check(PQprepare(pq_, s == statement::take ? "take" : "give", text.c_str(), 0, nullptr));
    }
  }
  ~postgres_pairs() override { PQfinish(pq_); }

  void take() override {
    static const std::string end = std::to_string(never);
    const std::array<const char*, 7> values{name_.data(), "1",         owner.data(), "30000000",
                                            "0",          note.data(), end.data()};
    const std::array<int, 7> sizes{size(name_), 0, size(owner), 0, 0, size(note), 0};
    const std::array<int, 7> formats{1, 0, 1, 0, 0, 1, 0};
    if (execute("take", values, sizes, formats) == 0) throw std::runtime_error{"somebody has it"};
  }
  void give() override {
    const std::array<const char*, 2> values{name_.data(), owner.data()};
    const std::array<int, 2> sizes{size(name_), size(owner)};
    const std::array<int, 2> formats{1, 1};
    execute("give", values, sizes, formats);
  }

  void listen() override { check(PQexec(pq_, "LISTEN afar_bench")); }
  void notify() override { check(PQexec(pq_, "NOTIFY afar_bench")); }
  void await_notice() override {
    for (;;) {
      if (PGnotify* n = PQnotifies(pq_)) return PQfreemem(n);
      pollfd readable{PQsocket(pq_), POLLIN, 0};
      if (::poll(&readable, 1, 20'000) <= 0) throw std::runtime_error{"no notice came"};
      PQconsumeInput(pq_);
    }
  }

 private:
  static int size(const std::string& s) { return static_cast<int>(s.size()); }
  static void check(PGresult* r) {
    const auto state = PQresultStatus(r);
    const std::string said = PQresultErrorMessage(r);
    PQclear(r);
    if (state != PGRES_COMMAND_OK) throw std::runtime_error{said};
  }
  template <std::size_t N>
  int execute(const char* what, const std::array<const char*, N>& values,
              const std::array<int, N>& sizes, const std::array<int, N>& formats) {
    PGresult* const r = PQexecPrepared(pq_, what, static_cast<int>(N), values.data(), sizes.data(),
                                       formats.data(), 1);
    const auto state = PQresultStatus(r);
    const int rows = PQntuples(r);
    const std::string said = PQresultErrorMessage(r);
    PQclear(r);
    if (state != PGRES_TUPLES_OK && state != PGRES_COMMAND_OK) throw std::runtime_error{said};
    return rows;
  }

  const std::string name_;
  PGconn* pq_ = nullptr;
};

}  // namespace

std::unique_ptr<raw_sql> raw_mysql(std::uint16_t port, const std::string& name) {
  return std::make_unique<mysql_pairs>(port, name);
}
std::unique_ptr<raw_sql> raw_postgres(std::uint16_t port, const std::string& name) {
  return std::make_unique<postgres_pairs>(port, name);
}

}  // namespace bench
