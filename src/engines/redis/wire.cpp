#include "engines/redis/wire.hpp"

#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

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
  return ::send(handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

// A session knows its descriptor by number, which may be another's once it is closed.
bool wire::open() noexcept {
  errno = EBADF;
  return fd_ >= 0 || socket_.is_open();
}

ssize_t wire::receive(std::span<char> room, bool waits) noexcept {
  if (!open()) return -1;
  if (tls_) return tls_->receive(room.data(), room.size());
  return ::recv(handle(), room.data(), room.size(), waits ? 0 : MSG_DONTWAIT);
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

void wire::leave_asio(std::chrono::milliseconds most) {
  fd_ = socket_.release();
  auto& thread = static_cast<asio::io_context&>(socket_.get_executor().context());
  readable_.emplace(thread, fd_, readiness::of::reading);
  writable_.emplace(thread, fd_, readiness::of::writing);
  if (tls_) return;  // OpenSSL does not say "do not wait" in its calls
  const timeval time{.tv_sec = 0, .tv_usec = most.count() * 1'000};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) & ~O_NONBLOCK);
}

void wire::shut() noexcept { ::shutdown(handle(), SHUT_RDWR); }

void wire::close() noexcept {
  std::error_code ignored;
  socket_.close(ignored);  // NOLINT(bugprone-unused-return-value): the same as `ignored`
  if (fd_ < 0) return;
  readable_->close();
  writable_->close();
  ::close(std::exchange(fd_, -1));
}

}  // namespace afar::engines::redis
