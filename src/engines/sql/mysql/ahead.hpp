// A prepared statement whose answer is not waited for in libmariadb: that call stands still, on a stack of its
// own, and goes on when something has come. Any thread may go on with it, one at a time. It must not find
// the socket empty then: a compiler may have kept the address of errno, which was another thread's.
#pragma once

#include "engines/sql/mysql/library.hpp"

#include <poll.h>

#include <cerrno>

namespace afar::engines::sql::mysql {

class ahead {
 public:
  explicit ahead(const library& l) noexcept : lib_(l) {}

  // Does not block either: one statement has room in the buffer of a socket on which all is answered.
  void begin(MYSQL_STMT* s) noexcept {
    what_ = s;
    awaits_ = lib_.mysql_stmt_execute_start(&failed_, s);
  }
  // Something can be read, or the socket is broken.
  void go_on() noexcept {
    awaits_ = lib_.mysql_stmt_execute_cont(&failed_, what_, awaits_ & ready);
  }

  bool any() const noexcept { return what_ != nullptr; }
  bool under_way() const noexcept { return awaits_ != 0; }
  bool did_it() const noexcept { return failed_ == 0 && lib_.mysql_stmt_affected_rows(what_) > 0; }

  // Blocks while it is under way, unless the socket is shut down. What mysql_stmt_execute() would say.
  int end(int socket) noexcept {
    while (under_way()) {
      pollfd p{socket, static_cast<short>(awaits_ & MYSQL_WAIT_WRITE ? POLLOUT : POLLIN), 0};
      if (::poll(&p, 1, -1) >= 0 || errno != EINTR) go_on();
    }
    what_ = nullptr;
    return failed_;
  }

 private:
  // Not MYSQL_WAIT_TIMEOUT: whoever waits has deadlines of his own.
  static constexpr int ready = MYSQL_WAIT_READ | MYSQL_WAIT_WRITE;

  const library& lib_;
  MYSQL_STMT* what_ = nullptr;
  int awaits_ = 0;
  int failed_ = 0;
};

}  // namespace afar::engines::sql::mysql
