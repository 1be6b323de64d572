#include "engines/redis/io.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>

namespace afar::engines::redis {
namespace {

// Signals belong to the user's threads; a thread inherits the mask of the one that starts it.
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

}  // namespace

std::shared_ptr<io> io::start() {
  const std::shared_ptr<io> made{new io};
  const signals_off during;
  // Detached: the last owner of the engine may be a callback on this very thread.
  std::thread{[made] {
    pthread_setname_np(pthread_self(), "afar-redis");
    made->id_ = std::this_thread::get_id();
    made->context_.run();
    made->ended_ = true;
    made->ended_.notify_all();
  }}.detach();
  return made;
}

void io::finish() noexcept {
  work_.reset();
  if (on_thread()) return;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  while (!ended_ && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds{100});
  context_.stop();
}

}  // namespace afar::engines::redis
