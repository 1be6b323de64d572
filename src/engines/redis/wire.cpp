#include "engines/redis/wire.hpp"

#include <sys/socket.h>
#include <asio/use_awaitable.hpp>

#include <cerrno>
#include <system_error>

namespace afar::engines::redis {
namespace {

[[noreturn]] void fail(int error) { throw std::system_error{error, std::generic_category()}; }

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

ssize_t wire::send(std::string_view bytes) noexcept {
  if (!open()) return -1;
  if (tls_) return tls_->send(bytes.data(), bytes.size());
  return ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A session knows its descriptor by number, which may be another's once it is closed.
bool wire::open() noexcept {
  errno = EBADF;
  return socket_.is_open();
}

ssize_t wire::receive(std::span<char> room) noexcept {
  if (!open()) return -1;
  if (tls_) return tls_->receive(room.data(), room.size());
  return ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
}

asio::awaitable<void> wire::secure(const tls_context& with, const std::string& host) {
  tls_ = with.start(socket_.native_handle(), host);
  for (;;) {
    switch (tls_->shake_hands()) {
      case tls_session::progress::done:
        co_return;
      case tls_session::progress::wants_to_read:
        co_await socket_.async_wait(stream::wait_read, asio::use_awaitable);
        break;
      case tls_session::progress::wants_to_write:
        co_await socket_.async_wait(stream::wait_write, asio::use_awaitable);
        break;
      case tls_session::progress::failed:
        fail(EPROTO);
    }
  }
}

asio::awaitable<std::size_t> wire::read_some(std::span<char> room) {
  for (;;) {
    const auto n = receive(room);
    if (n > 0) co_return static_cast<std::size_t>(n);
    if (n == 0) fail(ECONNRESET);
    if (!would_block(errno)) fail(errno);
    co_await socket_.async_wait(stream::wait_read, asio::use_awaitable);
  }
}

asio::awaitable<void> wire::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = send(bytes);
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (!would_block(errno)) fail(errno);
    co_await socket_.async_wait(stream::wait_write, asio::use_awaitable);
  }
}

void wire::shut() noexcept { ::shutdown(socket_.native_handle(), SHUT_RDWR); }

void wire::close() noexcept {
  std::error_code ignored;
  socket_.close(ignored);
}

}  // namespace afar::engines::redis
