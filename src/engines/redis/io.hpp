// The engine's own thread: runs the Asio context of one engine. It dials, reads the subscribed
// connection, and reads the command connection when no caller does.
#pragma once

#include <asio/io_context.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace afar::engines::redis {

class io : public std::enable_shared_from_this<io> {
 public:
  static std::shared_ptr<io> start();
  io(const io&) = delete;
  io& operator=(const io&) = delete;

  asio::io_context& context() noexcept { return context_; }
  bool on_thread() const noexcept { return id_.load() == std::this_thread::get_id(); }

  // Waits until the thread has run out of work, which everybody has ended before; not longer than a
  // second, because a name server can keep the context busy for longer. On the thread itself: not.
  void finish() noexcept;

 private:
  io() : context_(1), work_(context_.get_executor()) {}
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::atomic<std::thread::id> id_;
  std::atomic<bool> ended_{false};
};

}  // namespace afar::engines::redis
