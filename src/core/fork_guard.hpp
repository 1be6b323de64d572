// After fork() the child must not touch the parent's holds, threads or connections. Everything that
// could asks here first, before it takes any lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace afar::detail {

// Grows by one in every child; read it when an object is made and compare later.
inline std::atomic<std::uint32_t> fork_generation{0};

// Registers the pthread_atfork handler once; called by every client that is opened.
void watch_forks();

// Made by a process: is it still that process?
class fork_mark {
 public:
  fork_mark() noexcept : made_(fork_generation.load(std::memory_order_relaxed)) {}
  bool foreign() const noexcept { return fork_generation.load(std::memory_order_relaxed) != made_; }

 private:
  std::uint32_t made_;
};

// The one T of a process, made on first use and never destroyed: detached threads use it until the
// process ends. A child gets a T of its own and leaks its parent's, whose mutex may be held for ever
// by a thread that the child does not have. No lock here either, for the same reason: of two first
// users one wins, and the other's T must be cheap to drop.
template <class T>
class per_process {
 public:
  template <class Make>
  T& get(Make make) {
    node* seen = node_.load(std::memory_order_acquire);
    if (seen && !seen->mark.foreign()) return *seen->value;
    watch_forks();
    auto mine = std::make_unique<node>(node{fork_mark{}, make()});
    if (node_.compare_exchange_strong(seen, mine.get(), std::memory_order_acq_rel)) {
      return *mine.release()->value;
    }
    return *seen->value;
  }

 private:
  struct node {
    fork_mark mark;
    std::unique_ptr<T> value;
  };
  std::atomic<node*> node_{nullptr};
};

}  // namespace afar::detail
