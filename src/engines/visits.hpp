// Counts the callbacks that an engine has under way, so that close() can refuse new ones and wait
// for the others. A thread that closes from inside such a callback does not wait for itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace afar::engines {

class visits {
 public:
  // Held around every call of a completion or of the host. False: closed, do not call.
  class guard {
   public:
    explicit guard(std::shared_ptr<visits> of) noexcept
        : of_(std::move(of)), entered_(of_->enter()), outer_(std::exchange(innermost, this)) {}
    ~guard() {
      innermost = outer_;
      if (entered_) of_->leave();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

    explicit operator bool() const noexcept { return entered_; }

   private:
    friend visits;
    std::shared_ptr<visits> of_;  // outlives leave(), although the engine may not
    bool entered_;
    guard* outer_;
    inline static thread_local guard* innermost = nullptr;
  };

  // Afterwards no guard is granted, and those of other threads are gone.
  void close() noexcept {
    closed_.store(true);
    const std::uint32_t own = of_this_thread();
    for (std::uint32_t n = inside_.load(); n > own; n = inside_.load()) inside_.wait(n);
  }

 private:
  bool enter() noexcept {
    inside_.fetch_add(1);  // before the look at closed_: close() looks in the other order
    if (!closed_.load()) return true;
    leave();
    return false;
  }

  void leave() noexcept {
    inside_.fetch_sub(1);
    if (closed_.load()) inside_.notify_all();
  }

  std::uint32_t of_this_thread() const noexcept {
    std::uint32_t n = 0;
    for (const guard* g = guard::innermost; g; g = g->outer_)
      if (g->entered_ && g->of_.get() == this) ++n;
    return n;
  }

  std::atomic<std::uint32_t> inside_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace afar::engines
