#include "engines/wrap/delayer.hpp"

#include "engines/this_process.hpp"

#include <afar/spi/own_thread.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace afar::engines::wrap {
namespace {

struct planned {
  const delayer* by;
  delayer::job run;
};

struct worker {
  std::mutex m;
  std::condition_variable changed;
  std::multimap<std::chrono::steady_clock::time_point, planned> jobs;
  const delayer* running = nullptr;
  std::thread::id id = {};
  bool started = false;

  void loop() {
    spi::own_thread = true;
    std::unique_lock lock{m};
    id = std::this_thread::get_id();
    for (;;) {
      if (jobs.empty()) {
        changed.wait(lock);
        continue;
      }
      const auto due = jobs.begin()->first;
      if (due > std::chrono::steady_clock::now()) {
        changed.wait_until(lock, due);
        continue;
      }
      planned next = std::move(jobs.extract(jobs.begin()).mapped());
      running = next.by;
      lock.unlock();
      next.run();
      next.run = nullptr;  // its destructor may be long, or call us
      lock.lock();
      running = nullptr;
      changed.notify_all();  // somebody may close
    }
  }
};

}  // namespace

void delayer::run_after(std::chrono::microseconds delay, job j) {
  auto& all = this_process<worker>();
  {
    const std::lock_guard lock{all.m};
    if (!closed_) {
      all.jobs.emplace(std::chrono::steady_clock::now() + delay, planned{this, std::move(j)});
      if (!std::exchange(all.started, true)) std::thread{[&all] { all.loop(); }}.detach();
      all.changed.notify_all();
      return;
    }
  }
  j();
}

void delayer::close() noexcept {
  auto& all = this_process<worker>();
  std::vector<job> left;
  {
    const std::lock_guard lock{all.m};
    closed_ = true;
    for (auto at = all.jobs.begin(); at != all.jobs.end();) {
      const auto here = at++;
      if (here->second.by == this) left.push_back(std::move(all.jobs.extract(here).mapped().run));
    }
  }
  for (job& j : left) j();
  left.clear();
  std::unique_lock lock{all.m};
  // A job that closes does not wait for itself.
  all.changed.wait(lock,
                   [&] { return all.running != this || all.id == std::this_thread::get_id(); });
}

}  // namespace afar::engines::wrap
