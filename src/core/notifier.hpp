// Runs the callbacks of users (loss notices) on a thread of their own, never on an I/O or timer
// thread. A callback that takes longer than 20 ms gets a replacement thread started behind it, so
// that a slow user does not delay the notices of others.
#pragma once

#include <afar/detail/function.hpp>

namespace afar::detail {

class notifier {
 public:
  static notifier& shared();  // threads start on first use and end after a second without work

  void post(function<void()>);

 private:
  notifier();
  struct impl;
  impl* impl_;
};

}  // namespace afar::detail
