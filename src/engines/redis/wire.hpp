// A connected stream of bytes that does not block: TCP, a Unix socket, or TLS over TCP.
#pragma once

#include "engines/redis/tls.hpp"

#include <asio/awaitable.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace afar::engines::redis {

class wire {
 public:
  using stream = asio::generic::stream_protocol::socket;

  explicit wire(asio::io_context& on) : socket_(on) {}

  stream& socket() noexcept { return socket_; }

  // As send(2) and recv(2). One thread may send while another receives.
  ssize_t send(std::string_view bytes) noexcept;
  ssize_t receive(std::span<char> room) noexcept;

  // On the engine's thread. They throw std::system_error; why() may say more.
  asio::awaitable<void> secure(const tls_context&, const std::string& host);
  asio::awaitable<std::size_t> read_some(std::span<char> room);
  asio::awaitable<void> write(std::string_view bytes);

  std::string why() const { return tls_ ? tls_->why() : std::string{}; }
  void shut() noexcept;  // who sleeps on it wakes
  void close() noexcept;

 private:
  bool open() noexcept;  // false: errno says so

  stream socket_;
  std::unique_ptr<tls_session> tls_;
};

}  // namespace afar::engines::redis
