#include "engines/redis/readiness.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <system_error>

namespace afar::engines::redis {
namespace {

int new_set(int socket) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event none{};  // not armed
  if (set < 0 || ::epoll_ctl(set, EPOLL_CTL_ADD, socket, &none) != 0)
    throw std::system_error{errno, std::generic_category(), "epoll"};
  return set;
}

}  // namespace

readiness::readiness(asio::io_context& thread, int socket, of what)
    : socket_(socket),
      event_(what == of::reading ? EPOLLIN | EPOLLRDHUP : EPOLLOUT),
      set_(thread, new_set(socket)) {}

void readiness::close() noexcept {
  std::error_code ignored;
  set_.close(ignored);  // NOLINT(bugprone-unused-return-value): the same as `ignored`
}

void readiness::arm() noexcept {
  epoll_event e{};
  e.events = event_ | EPOLLONESHOT;
  ::epoll_ctl(set_.native_handle(), EPOLL_CTL_MOD, socket_, &e);
}

// Taking the event disarms it.
void readiness::disarm() noexcept {
  epoll_event e{};
  ::epoll_wait(set_.native_handle(), &e, 1, 0);
}

}  // namespace afar::engines::redis
