// The terminal that `afar run` was started on, if any, and who is in its foreground.
//
// The command has a process group of its own. In the plain case, stdin and stdout on the terminal, it
// gets the foreground when it starts. In a pipeline (afar run … | less) others of the job may need
// it, so there the command gets it when it first asks for it: it is stopped by SIGTTIN or SIGTTOU.
#pragma once

#include <sys/types.h>

namespace afar::cli {

class terminal {
 public:
  terminal();  // in the front process, before the fork
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;
  ~terminal();

  // A shell is there that continues what has stopped.
  bool has_shell() const noexcept { return has_shell_; }
  bool plain() const noexcept { return plain_; }

  // Both only if the job is in the foreground, so that nothing is taken from others. The caller
  // ignores or blocks SIGTTOU. True: given.
  bool give(pid_t group) const noexcept;
  void take_back(pid_t group) const noexcept;

 private:
  int file_;
  pid_t job_;  // the process group that the shell made
  bool has_shell_;
  bool plain_;
};

}  // namespace afar::cli
