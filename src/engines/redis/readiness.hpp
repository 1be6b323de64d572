// Tells the engine's thread once that a socket is ready, and only after it has asked. A socket that
// asio watches itself would wake that thread for every answer, also for those that a caller reads:
// two more switches of a thread for each.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <cstdint>
#include <utility>

namespace afar::engines::redis {

class readiness {
 public:
  enum class of : std::uint8_t { reading, writing };

  // The socket must outlive this.
  readiness(asio::io_context&, int socket, of);

  // One at a time. The handler keeps this alive.
  template <class Handler>
  void wait(Handler handler) {
    arm();
    set_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [this, handler = std::move(handler)](std::error_code failed) mutable {
                      if (!failed) disarm();
                      handler(failed);
                    });
  }

  // Again and again, whenever it is ready after arm(). The handler keeps this alive.
  template <class Handler>
  void keep_waiting(Handler handler) {
    set_.async_wait(asio::posix::stream_descriptor::wait_read,
                    [this, handler = std::move(handler)](std::error_code failed) mutable {
                      if (failed) return;
                      disarm();
                      handler();
                      keep_waiting(std::move(handler));
                    });
  }
  // Any thread.
  void arm() noexcept { set_event(event_ | once); }
  void rest() noexcept { set_event(0); }

  // A wait ends with an error.
  void close() noexcept;

 private:
  static const std::uint32_t once;
  void set_event(std::uint32_t) noexcept;
  void disarm() noexcept;

  const int socket_;
  const std::uint32_t event_;
  asio::posix::stream_descriptor set_;  // an epoll of this one socket, each event only once
};

}  // namespace afar::engines::redis
