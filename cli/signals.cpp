#include "signals.hpp"

#include "failure.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

namespace afar::cli {
namespace {

constexpr std::array forwarded{SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1,
                               SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP};

bool ignored(int signal) noexcept {
  struct sigaction now{};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

signals::signals() {
  sigset_t ours;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, SIGCHLD);
  // The kernel keeps a blocked signal even if it is ignored: it must not be blocked then.
  for (const int s : forwarded)
    if (!ignored(s)) ::sigaddset(&ours, s);
  ::sigprocmask(SIG_BLOCK, &ours, &before_);
  file_ = ::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  if (file_ < 0) throw failure{exit_code::unavailable, "no file for signals"};
}

signals::~signals() { ::close(file_); }

int signals::next() const noexcept {
  signalfd_siginfo info{};
  if (::read(file_, &info, sizeof info) != sizeof info) return 0;
  return static_cast<int>(info.ssi_signo);
}

bool asks_to_leave(int signal) noexcept {
  return signal == SIGHUP || signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
}

}  // namespace afar::cli
