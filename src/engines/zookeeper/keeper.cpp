#include "engines/zookeeper/keeper.hpp"

#include "engines/signals_off.hpp"

#include <afar/spi/own_thread.hpp>

#include <algorithm>
#include <chrono>

namespace afar::engines::zookeeper {

keeper::keeper() {
  const signals_off here;
  thread_ = std::thread{[this] { run(); }};
}

void keeper::at(spi::time_point when, job j) {
  const std::lock_guard lock{m_};
  if (stopped_) return;
  const bool first = jobs_.empty() || when < jobs_.begin()->first;
  jobs_.emplace(when, std::move(j));
  if (first) changed_.notify_one();
}

void keeper::run() {
  using namespace std::chrono_literals;
  spi::own_thread = true;
  std::unique_lock lock{m_};
  while (!stopped_) {
    if (jobs_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto left = jobs_.begin()->first - boot_clock::now();
    if (left > 0ns) {
      // A condition variable does not count the time in which the machine sleeps.
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(left, 1s));
      continue;
    }
    auto due = jobs_.extract(jobs_.begin());
    lock.unlock();
    due.mapped()();
    due = {};
    lock.lock();
  }
}

void keeper::stop() noexcept {
  std::multimap<spi::time_point, job> dropped;
  {
    const std::lock_guard lock{m_};
    stopped_ = true;
    dropped.swap(jobs_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  for (auto& [when, j] : dropped) j();  // some of them owe an answer
}

}  // namespace afar::engines::zookeeper
