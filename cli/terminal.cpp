#include "terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace afar::cli {

terminal::terminal()
    : file_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)),
      job_(::getpgrp()),
      has_shell_(file_ >= 0 && ::getsid(0) != ::getpid()),
      plain_(file_ >= 0 && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {}

terminal::~terminal() {
  if (file_ >= 0) ::close(file_);
}

bool terminal::give(pid_t group) const noexcept {
  return file_ >= 0 && ::tcgetpgrp(file_) == job_ && ::tcsetpgrp(file_, group) == 0;
}

void terminal::take_back(pid_t group) const noexcept {
  if (file_ >= 0 && ::tcgetpgrp(file_) == group) ::tcsetpgrp(file_, job_);
}

}  // namespace afar::cli
