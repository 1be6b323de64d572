// Blocks a thread of the user's until a completion has run, on whatever thread that is.
#pragma once

#include "core/core.hpp"
#include "core/parker.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <utility>

namespace afar::detail {

// Held by a shared_ptr, of which the completion has one: it may come after the caller gave up.
template <class Value>
class answer final : public spi::waiter {
 public:
  // Once.
  void give(Value v) noexcept {
    value_ = std::move(v);
    ready_.store(true, std::memory_order_release);
    place_.notify();
  }

  Value& value() noexcept { return value_; }  // once it is ready

  bool ready() const noexcept override { return ready_.load(std::memory_order_acquire); }
  void park_until(spi::time_point t) noexcept override { place_.park_until(t); }
  void notify() noexcept override { place_.notify(); }

 private:
  Value value_{};
  std::atomic<bool> ready_{false};
  parker place_;
};

// False: not answered by `until`.
inline bool wait_for(core& c, spi::waiter& w, spi::time_point until) noexcept {
  while (!w.ready()) {
    if (boot_clock::now() >= until) return w.ready();
    c.engine().drive(w, until);
  }
  return true;
}

}  // namespace afar::detail
