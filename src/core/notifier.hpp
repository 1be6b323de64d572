// Runs the callbacks of users (loss notices) on a thread of their own, never on an I/O or timer
// thread. A callback that takes longer than 20 ms gets a replacement thread started behind it, so
// that a slow user does not delay the notices of others.
#pragma once

#include <afar/detail/function.hpp>

#include <memory>

namespace afar::detail {

class notifier {
 public:
  static notifier& shared();  // threads start on first use and end after a second without work

  // Callbacks start in the order in which they were posted. If no thread can be had now, it is tried
  // again. A callback that throws ends the process.
  void post(function<void()>);

  notifier(const notifier&) = delete;
  notifier& operator=(const notifier&) = delete;
  ~notifier();

 private:
  notifier();
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace afar::detail
