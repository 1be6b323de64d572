#include "wire.hpp"

#include "failure.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace afar::cli {

wire::~wire() { ::close(fd_); }

void wire::send(news n) const noexcept { ::send(fd_, &n, sizeof n, MSG_NOSIGNAL | MSG_DONTWAIT); }

std::optional<news> wire::next() noexcept {
  news n;
  const ssize_t got = ::recv(fd_, &n, sizeof n, MSG_DONTWAIT);
  if (got == sizeof n) return n;
  if (got >= 0 || (errno != EAGAIN && errno != EINTR)) cut_ = true;
  return {};
}

two_ends make_wire() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw failure{exit_code::unavailable, "no sockets"};
  return {ends[0], ends[1]};
}

}  // namespace afar::cli
