// The one T of this process, made on first use and never destroyed, because threads use it until the
// end. A child of fork() has a T of its own and leaks its parent's, whose mutex may be held for ever by
// a thread that the child has not.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>

namespace afar::engines {

template <class T>
T& this_process() {
  struct node {
    const pid_t id = ::getpid();
    T value;
  };
  static std::atomic<node*> at{nullptr};
  node* seen = at.load();
  if (seen && seen->id == ::getpid()) return seen->value;
  auto mine = std::make_unique<node>();
  if (at.compare_exchange_strong(seen, mine.get())) return mine.release()->value;
  return seen->value;  // another thread was first
}

}  // namespace afar::engines
