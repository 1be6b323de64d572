// A thread of the engine's own: no signal of the program is handled on it.
#pragma once

#include <afar/spi/own_thread.hpp>

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace afar::engines::sql {

// Whatever `body` owns keeps what it needs alive; nobody joins it.
template <class Body>
void start_thread(Body body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread{[body = std::move(body)]() mutable {
      spi::own_thread = true;
      body();
    }}.detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace afar::engines::sql
