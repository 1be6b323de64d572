// Signals as events: those that are meant for the command, and SIGCHLD. They are blocked, and read
// from a file; both processes of `afar run` read their own from the same one.
#pragma once

#include <signal.h>

namespace afar::cli {

class signals {
 public:
  // What was ignored stays ignored (nohup).
  signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;
  ~signals();

  int file() const noexcept { return file_; }
  int next() const noexcept;                                   // 0: none is pending
  const sigset_t& before() const noexcept { return before_; }  // the mask that the command gets

 private:
  sigset_t before_{};
  int file_ = -1;
};

// Asks a program to leave, and not only to look at something.
bool asks_to_leave(int signal) noexcept;

}  // namespace afar::cli
