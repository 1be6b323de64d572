// Runs things later. All delayers of a process share one thread, which starts with the first job.
#pragma once

#include <afar/detail/function.hpp>

#include <chrono>

namespace afar::engines::wrap {

class delayer {
 public:
  using job = detail::function<void()>;

  delayer() = default;
  ~delayer() { close(); }
  delayer(const delayer&) = delete;
  delayer& operator=(const delayer&) = delete;

  // After close() the job runs at once, on the caller's thread.
  void run_after(std::chrono::microseconds, job);

  // Runs what is left on the caller's thread, and returns when the last of it has returned.
  void close() noexcept;

 private:
  bool closed_ = false;  // guarded by the thread's mutex
};

}  // namespace afar::engines::wrap
