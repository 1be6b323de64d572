// One thread per process that runs short callbacks at their time, by boot_clock. pthread's timed waits
// reject CLOCK_BOOTTIME, so it polls a timerfd and an eventfd.
#pragma once

#include <afar/boot_clock.hpp>
#include <afar/detail/function.hpp>

#include <cstdint>

namespace afar::detail {

class timers {
 public:
  using id = std::uint64_t;  // 0: none

  // Starts the thread on first use; it is never joined and dies with the process.
  static timers& shared();

  // Runs `f` on the timer thread, which belongs to all clients: it must not block.
  id at(boot_clock::time_point, function<void()> f);

  // True: it will not run. False: it has run, is running, or was never there.
  bool cancel(id) noexcept;

 private:
  timers();
  struct impl;
  impl* impl_;
};

// True on the threads that afar itself made (timer, notifier, engine threads that say so): there a
// client must not be closed, because closing waits for these very threads.
bool on_own_thread() noexcept;
void mark_own_thread() noexcept;

}  // namespace afar::detail
