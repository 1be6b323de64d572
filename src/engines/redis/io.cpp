#include "engines/redis/io.hpp"

#include "engines/signals_off.hpp"
#include "engines/this_process.hpp"

#include <afar/spi/own_thread.hpp>

#include <pthread.h>

#include <chrono>
#include <mutex>

namespace afar::engines::redis {
namespace {

struct shared {
  std::mutex m;
  std::shared_ptr<io> current;  // null: no engine
};

}  // namespace

std::shared_ptr<io> io::join() {
  auto& here = this_process<shared>();
  const std::lock_guard lock{here.m};
  if (!here.current) {
    std::shared_ptr<io> made{new io};
    start(made);
    here.current = std::move(made);
  }
  ++here.current->engines_;
  return here.current;
}

void io::start(const std::shared_ptr<io>& made) {
  const signals_off during;
  // Detached: the last owner of the engine may be a callback on this very thread.
  std::thread{[made] {
    pthread_setname_np(pthread_self(), "afar-redis");
    spi::own_thread = true;
    made->id_ = std::this_thread::get_id();
    made->context_.run();
    made->ended_ = true;
    made->ended_.notify_all();
  }}.detach();
}

void io::leave() noexcept {
  auto& here = this_process<shared>();
  {
    const std::lock_guard lock{here.m};
    if (--engines_ > 0) return;
    here.current.reset();  // the caller has another
  }
  work_.reset();
  if (on_thread()) return;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  while (!ended_ && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::microseconds{100});
  context_.stop();
}

}  // namespace afar::engines::redis
