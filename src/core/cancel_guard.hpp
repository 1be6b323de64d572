// Holds off pthread_cancel: a thread that is cancelled inside afar would leave half a step behind,
// and in a noexcept function end the process.
#pragma once

#include <pthread.h>

namespace afar::detail {

class cancel_guard {
 public:
  cancel_guard() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~cancel_guard() { ::pthread_setcancelstate(before_, nullptr); }
  cancel_guard(const cancel_guard&) = delete;
  cancel_guard& operator=(const cancel_guard&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace afar::detail
