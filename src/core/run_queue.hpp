// Continuations of inline completions. Engines may complete a step before the call returns; if each
// completion started the next step on the same stack, a long line of waiters would overflow it. So
// they are queued per thread and run by the outermost frame.
#pragma once

#include <afar/detail/function.hpp>

#include <deque>

namespace afar::detail {

class run_queue {
 public:
  // Runs `f` now, or after the continuation that is running on this thread.
  static void run(function<void()> f) {
    thread_local run_queue queue;
    queue.waiting_.push_back(std::move(f));
    if (queue.draining_) return;
    queue.draining_ = true;
    while (!queue.waiting_.empty()) {
      auto next = std::move(queue.waiting_.front());
      queue.waiting_.pop_front();
      next();
    }
    queue.draining_ = false;
  }

 private:
  std::deque<function<void()>> waiting_;
  bool draining_ = false;
};

}  // namespace afar::detail
