#include "engines/wrap/delayer.hpp"

#include <afar/spi/own_thread.hpp>

#include <utility>

namespace afar::engines::wrap {

void delayer::run_after(std::chrono::microseconds delay, job j) {
  {
    std::lock_guard lock{mutex_};
    if (!closed_) {
      jobs_.emplace(std::chrono::steady_clock::now() + delay, std::move(j));
      if (!thread_.joinable()) thread_ = std::thread{[this] { loop(); }};
      changed_.notify_one();
      return;
    }
  }
  j();
}

void delayer::loop() {
  spi::own_thread = true;
  std::unique_lock lock{mutex_};
  for (;;) {
    if (jobs_.empty() && closed_) return;
    if (jobs_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto due = jobs_.begin()->first;
    if (!closed_ && due > std::chrono::steady_clock::now()) {
      changed_.wait_until(lock, due);
      continue;
    }
    job next = std::move(jobs_.extract(jobs_.begin()).mapped());
    lock.unlock();
    next();
    next = nullptr;  // its destructor may be long, or call us
    lock.lock();
  }
}

void delayer::close() noexcept {
  {
    std::lock_guard lock{mutex_};
    closed_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace afar::engines::wrap
