// The thread of all Redis engines of this process. It dials, reads the subscribed connections, and
// reads the command connections when no caller does.
#pragma once

#include <asio/io_context.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

namespace afar::engines::redis {

class io {
 public:
  // The first engine starts it. A child of fork() has one of its own.
  static std::shared_ptr<io> join();
  io(const io&) = delete;
  io& operator=(const io&) = delete;

  asio::io_context& context() noexcept { return context_; }

  // Once per join. The last one waits until the thread has run out of work, which everybody has ended
  // before; not longer than a second, because a name server can keep the context busy for longer. On
  // the thread itself: not.
  void leave() noexcept;

 private:
  io() : context_(1), work_(context_.get_executor()) {}
  static void start(const std::shared_ptr<io>&);
  bool on_thread() const noexcept { return id_.load() == std::this_thread::get_id(); }

  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::atomic<std::thread::id> id_;
  std::atomic<bool> ended_{false};
  std::size_t engines_ = 0;  // guarded by the mutex in io.cpp
};

}  // namespace afar::engines::redis
