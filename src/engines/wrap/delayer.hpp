// Runs things later, on a thread of its own that starts with the first of them.
#pragma once

#include <afar/detail/function.hpp>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

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

  // Runs what is left without further delay, and returns when the last of it has returned.
  void close() noexcept;

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<std::chrono::steady_clock::time_point, job> jobs_;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace afar::engines::wrap
