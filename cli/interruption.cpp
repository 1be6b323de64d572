#include "interruption.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

namespace afar::cli {
namespace {

int checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return fd;
}

// Reads and forgets; false at the end.
bool drained(int fd) {
  std::array<char, 4096> ignored{};
  const auto n = ::read(fd, ignored.data(), ignored.size());
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

interruption::interruption(also more) {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, s);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int signals = checked(::signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  end_ = checked(::eventfd(0, EFD_CLOEXEC), "eventfd");
  listener_ = std::jthread{[this, signals, more] {
    listen(signals, more == also::end_of_input);
    ::close(signals);
  }};
}

interruption::~interruption() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto n = ::write(end_, &one, sizeof one);
  listener_.join();
  ::close(end_);
}

void interruption::listen(int signals, bool input) {
  std::array<pollfd, 3> from{
      {{signals, POLLIN, 0}, {end_, POLLIN, 0}, {input ? STDIN_FILENO : -1, POLLIN, 0}}};
  while (true) {
    if (::poll(from.data(), from.size(), -1) < 0) continue;  // EINTR
    if (from[1].revents != 0) return;
    if (from[0].revents != 0) {
      signalfd_siginfo info{};
      if (::read(signals, &info, sizeof info) == sizeof info)
        signal_ = static_cast<int>(info.ssi_signo);
      stop_.request_stop();
    }
    if (from[2].revents != 0 && !drained(STDIN_FILENO)) {
      from[2].fd = -1;
      stop_.request_stop();
    }
  }
}

}  // namespace afar::cli
