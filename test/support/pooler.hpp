// A real PgBouncer in transaction mode before a PostgreSQL: every transaction may get another session.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace afar::test {

class pooler {
 public:
  // `sessions`: so many of the server's are shared. Starts it and returns when it answers.
  pooler(std::uint16_t server, int sessions);
  pooler(const pooler&) = delete;
  pooler& operator=(const pooler&) = delete;
  ~pooler();

  std::uint16_t port() const noexcept { return port_; }

 private:
  void stop() noexcept;

  std::string folder_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace afar::test
