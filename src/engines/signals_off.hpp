// Signals belong to the user's threads; a thread inherits the mask of the one that starts it.
#pragma once

#include <pthread.h>

#include <csignal>

namespace afar::engines {

class signals_off {
 public:
  signals_off() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_off() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_off(const signals_off&) = delete;
  signals_off& operator=(const signals_off&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace afar::engines
