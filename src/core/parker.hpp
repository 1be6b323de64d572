// Puts one thread to sleep until it is notified or a time of boot_clock has come. Notifications are
// remembered. (std::atomic::wait has no time limit, and condition variables no CLOCK_BOOTTIME.)
#pragma once

#include <afar/boot_clock.hpp>

#include <atomic>
#include <cstdint>

namespace afar::detail {

class parker {
 public:
  void park_until(boot_clock::time_point) noexcept;
  void notify() noexcept;

 private:
  std::atomic<std::uint32_t> word_{0};  // 0 none, 1 notified, 2 asleep
};

}  // namespace afar::detail
