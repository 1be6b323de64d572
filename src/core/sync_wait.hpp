// Blocks a thread of the user's until a completion has run, on whatever thread that is.
#pragma once

#include "core/core.hpp"
#include "core/parker.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace afar::detail {

// Owned by both, as the completion may come after the caller gave up; or by something that is.
template <class Value>
class answer final : public spi::waiter {
 public:
  explicit answer(core& c) noexcept : core_(c) {}  // which whoever completes keeps alive

  // Once.
  void give(Value v) noexcept {
    value_ = std::move(v);
    ready_.store(true, std::memory_order_seq_cst);
    place_.notify();
    if (driving_.load(std::memory_order_seq_cst)) core_.engine().nudge();
  }

  // False: not given by `until`.
  bool wait_until(spi::time_point until) noexcept {
    while (!ready()) {
      sleep_until(until);
      if (!ready() && boot_clock::now() >= until) return ready();
    }
    return true;
  }

  Value& value() noexcept { return value_; }  // once it is ready

  bool ready() const noexcept override { return ready_.load(std::memory_order_seq_cst); }
  void park_until(spi::time_point t) noexcept override { place_.park_until(t); }
  void notify() noexcept override { place_.notify(); }

 private:
  void sleep_until(spi::time_point until) noexcept {
    // Where steps answer at once, the engine has nothing to read that could lead to this answer.
    if (core_.about().inline_steps) return park_until(until);
    driving_.store(true, std::memory_order_seq_cst);
    if (!ready()) core_.engine().drive(*this, until);
    driving_.store(false, std::memory_order_relaxed);
  }

  core& core_;
  Value value_{};
  std::atomic<bool> ready_{false};
  std::atomic<bool> driving_{false};
  parker place_;
};

}  // namespace afar::detail
