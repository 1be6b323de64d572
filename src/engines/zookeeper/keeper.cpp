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
  const bool first = jobs_.empty() || when < jobs_.front().when;
  jobs_.push_back({when, ++last_, std::move(j)});
  std::ranges::push_heap(jobs_, later);
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
    const auto left = jobs_.front().when - boot_clock::now();
    if (left > 0ns) {
      // A condition variable does not count the time in which the machine sleeps.
      changed_.wait_for(lock, std::min<std::chrono::nanoseconds>(left, 1s));
      continue;
    }
    std::ranges::pop_heap(jobs_, later);
    job due = std::move(jobs_.back().j);
    jobs_.pop_back();
    lock.unlock();
    due();
    due = nullptr;
    lock.lock();
  }
}

void keeper::stop() noexcept {
  std::vector<entry> dropped;
  {
    const std::lock_guard lock{m_};
    stopped_ = true;
    dropped.swap(jobs_);
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  std::ranges::sort(dropped, [](const entry& a, const entry& b) { return later(b, a); });
  for (entry& e : dropped) e.j();  // some of them owe an answer
}

}  // namespace afar::engines::zookeeper
