// Many callers in one process.
#pragma once

#include "clock.hpp"

#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

inline constexpr std::size_t callers = 64;

// Threads, 64 unless told, that sleep between measurements; thread i calls pair(i).
class crowd {
 public:
  explicit crowd(std::function<void(std::size_t)> pair, std::size_t size = callers)
      : pair_(std::move(pair)),
        begin_(static_cast<std::ptrdiff_t>(size) + 1),
        end_(static_cast<std::ptrdiff_t>(size) + 1) {
    threads_.reserve(size);
    for (std::size_t i = 0; i < size; ++i) threads_.emplace_back([this, i] { work(i); });
  }
  ~crowd() {
    gone_ = true;
    begin_.arrive_and_wait();
    for (std::thread& t : threads_) t.join();
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  // Pairs per second.
  double run(nanoseconds time) {
    done_ = 0;
    over_ = false;
    begin_.arrive_and_wait();
    const auto start = now_ns();
    sleep_for(time);
    over_ = true;
    end_.arrive_and_wait();
    return static_cast<double>(done_.load()) * 1e9 / static_cast<double>(now_ns() - start);
  }

 private:
  void work(std::size_t i) {
    for (;;) {
      begin_.arrive_and_wait();
      if (gone_) return;
      std::int64_t mine = 0;
      for (; !over_.load(std::memory_order_relaxed); ++mine) pair_(i);
      done_ += mine;
      end_.arrive_and_wait();
    }
  }

  const std::function<void(std::size_t)> pair_;
  std::barrier<> begin_;
  std::barrier<> end_;
  std::atomic<bool> over_{false};
  std::atomic<bool> gone_{false};
  std::atomic<std::int64_t> done_{0};
  std::vector<std::thread> threads_;
};

}  // namespace bench
