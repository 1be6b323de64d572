// One thread per process that runs short callbacks at their time, by boot_clock. pthread's timed waits
// reject CLOCK_BOOTTIME, so it reads a timerfd. After fork() the child has timers of its own.
#pragma once

#include <afar/boot_clock.hpp>
#include <afar/detail/function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace afar::detail {

class timers {
 public:
  using id = std::uint64_t;  // 0: none; never used twice, not even by parent and child

  // Starts the thread on first use; it is never joined and dies with the process.
  static timers& shared();

  // Runs `f` on the timer thread, which belongs to all clients: it must not block or throw. Throws
  // if memory or the thread cannot be had.
  id at(boot_clock::time_point, function<void()> f);

  // True: it will not run. False: it has run, is running, or was never there.
  bool cancel(id) noexcept;

  std::size_t waiting() const;  // how many have yet to run

  timers(const timers&) = delete;
  timers& operator=(const timers&) = delete;
  ~timers();

 private:
  timers();
  struct impl;
  std::unique_ptr<impl> impl_;
};

// Starts a detached thread that is an own_thread (afar/spi/own_thread.hpp), has this name (at most 15
// bytes) and takes no signals: those belong to the user's threads. Throws std::system_error if there
// is no thread to be had.
void start_own_thread(const char* name, function<void()> body);

}  // namespace afar::detail
