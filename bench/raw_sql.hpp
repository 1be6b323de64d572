// The statements of a lock in a database on the client library alone, prepared: the limit of what any
// program can do with one connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace bench {

class raw_sql {
 public:
  virtual ~raw_sql() = default;
  virtual void take() = 0;  // throws if somebody has it
  virtual void give() = 0;
  void pair() {
    take();
    give();
  }
  // PostgreSQL's own notice; MariaDB has none.
  virtual void listen() = 0;
  virtual void notify() = 0;
  virtual void await_notice() = 0;
};

std::unique_ptr<raw_sql> raw_mysql(std::uint16_t port, const std::string& name);
std::unique_ptr<raw_sql> raw_postgres(std::uint16_t port, const std::string& name);

}  // namespace bench
