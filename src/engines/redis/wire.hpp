// A connected stream of bytes that blocks only if it is asked to: TCP, a Unix socket, or TLS over TCP.
#pragma once

#include "engines/redis/readiness.hpp"
#include "engines/redis/tls.hpp"

#include <asio/awaitable.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace afar::engines::redis {

class wire {
 public:
  using stream = asio::generic::stream_protocol::socket;

  explicit wire(asio::io_context& on) : socket_(on) {}

  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;
  ~wire() { close(); }

  stream& socket() noexcept { return socket_; }    // until leave_asio
  int descriptor() const noexcept { return fd_; }  // from then on

  // From here on asio does not watch the socket (see readiness). Who waits in receive() waits for
  // `most`.
  void leave_asio(std::chrono::milliseconds most);
  bool can_wait() const noexcept { return !tls_; }

  // As send(2) and recv(2). One thread may send while another receives.
  ssize_t send(std::string_view bytes) noexcept;
  ssize_t receive(std::span<char> room, bool waits = false) noexcept;

  // Once, on the engine's thread, after leave_asio. The handler keeps the wire alive.
  template <class Handler>
  void when_writable(Handler handler) {
    writable_->wait(std::move(handler));
  }

  // Again and again, on the engine's thread, whenever there is something to read after hear_readable(true).
  template <class Handler>
  void watch_readable(Handler handler) {
    readable_->keep_waiting(std::move(handler));
  }
  void hear_readable(bool on) noexcept { on ? readable_->arm() : readable_->rest(); }  // any thread

  // On the engine's thread. They throw std::system_error; why() may say more.
  asio::awaitable<void> secure(const tls_context&, const std::string& host);
  asio::awaitable<std::size_t> read_some(std::span<char> room);
  asio::awaitable<void> write(std::string_view bytes);

  std::string why() const { return tls_ ? tls_->why() : std::string{}; }
  void shut() noexcept;  // who sleeps on it wakes
  void close() noexcept;
  // On the engine's thread: as close(), but once asio has left it, the descriptor is closed with the wire,
  // so that who still looks at it never meets another's.
  void retire() noexcept;

 private:
  bool open() noexcept;  // false: errno says so
  int handle() noexcept { return fd_ < 0 ? socket_.native_handle() : fd_; }

  stream socket_;
  int fd_ = -1;  // once asio has left it
  std::optional<readiness> readable_;
  std::optional<readiness> writable_;
  std::unique_ptr<tls_session> tls_;
};

}  // namespace afar::engines::redis
