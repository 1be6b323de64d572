// The first question about a claim, for which its caller waits with no operation of its own: most claims
// are granted at once. It lives on the caller's stack, and is answered under the mutex of the hold, which
// the caller takes before it leaves (hold_state::begin, pass_on, end_question). The place where the caller
// sleeps is the hold's: it is woken when that mutex is free again. Else it would run at once, where threads
// share a core, only to sleep on the mutex.
#pragma once

#include "core/parker.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <thread>
#include <utility>

namespace afar::detail {

class first_question final : public spi::waiter {
 public:
  void wait_at(parker& place) noexcept { place_ = &place; }

  // From the thread of the caller itself, mostly. True: it is another one, and has to be woken.
  bool answer(spi::status s, spi::acquire_reply r) noexcept {
    result_.first = std::move(s);
    result_.second = std::move(r);
    const bool is_other = std::this_thread::get_id() != caller_;
    answered_.store(true, std::memory_order_release);
    return is_other;
  }

  bool ready() const noexcept override { return answered_.load(std::memory_order_acquire); }
  void park_until(spi::time_point t) noexcept override { place_->park_until(t); }
  void notify() noexcept override { place_->notify(); }

  std::pair<spi::status, spi::acquire_reply>& result() noexcept {
    return result_;
  }  // once it is ready

 private:
  std::pair<spi::status, spi::acquire_reply> result_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> answered_{false};
  parker* place_ = nullptr;
};

}  // namespace afar::detail
