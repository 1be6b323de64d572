// Ends a verb's waits on SIGINT, SIGTERM and SIGHUP and, if wanted, when its standard input closes: a
// coprocess whose master is gone must let go.
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace afar::cli {

class interruption {
 public:
  enum class also : bool { nothing, end_of_input };

  // Blocks the signals for this thread and those it starts: make it before any client.
  explicit interruption(also);
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  std::stop_token token() const { return stop_.get_token(); }
  int signal() const { return signal_; }  // 0: none came

 private:
  void listen(int signals, bool input);

  std::stop_source stop_;
  std::atomic<int> signal_{0};
  int end_ = -1;  // an eventfd that ends the thread
  std::jthread listener_;
};

}  // namespace afar::cli
