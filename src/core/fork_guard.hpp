// After fork() the child must not touch the parent's holds, threads or connections. Everything that
// could asks here first, before it takes any lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace afar::detail {

// Grows by one in every child; read it when an object is made and compare later.
inline std::atomic<std::uint32_t> fork_generation{0};

// Registers the pthread_atfork handler once; called by every client that is opened.
void watch_forks();

// Made by a process: is it still that process?
class fork_mark {
 public:
  fork_mark() noexcept : made_(fork_generation.load(std::memory_order_relaxed)) {}
  bool foreign() const noexcept {
    return fork_generation.load(std::memory_order_relaxed) != made_;
  }

 private:
  std::uint32_t made_;
};

}  // namespace afar::detail
