// Invariants, under the mutex:
//   1. A worker is idle, fresh (starting, or in a callback for less than 20 ms as far as we looked)
//      or slow. While work waits, there is an idle or fresh worker, or a watch is set.
//   2. While work waits and nobody is idle, a watch is set: it finds the fresh one that turned slow.
#include "core/notifier.hpp"

#include "core/fork_guard.hpp"
#include "core/timers.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <optional>

namespace afar::detail {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20ms;
constexpr auto idle_life = 1s;
constexpr std::size_t most_workers = 64;  // callbacks that never return must not eat the machine

}  // namespace

struct notifier::impl {
  void add(function<void()> f) {
    std::unique_lock lock{mutex_};
    waiting_.push_back(std::move(f));
    if (idle_ > 0) {
      bell_.notify_one();
      return;
    }
    if (fresh() == 0) start_worker();
    const auto next = next_watch();
    lock.unlock();
    if (next) watch_at(*next);
  }

 private:
  enum class mood : std::uint8_t { fresh, idle, slow };
  struct worker {
    mood now = mood::fresh;
    boot_clock::time_point since = boot_clock::now();
  };

  std::size_t fresh() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        workers_.begin(), workers_.end(), [](const worker& w) { return w.now == mood::fresh; }));
  }

  void start_worker() {
    if (workers_.size() >= most_workers) return;
    const auto self = workers_.emplace(workers_.end());
    try {
      start_own_thread("afar-notify", [this, self] { run(self); });
    } catch (const std::system_error&) {
      workers_.erase(self);  // (inv 2): the watch tries again
    }
  }

  // When to look whether somebody has become slow; nothing if a look is already planned.
  std::optional<boot_clock::time_point> next_watch() {
    if (watched_ || waiting_.empty() || idle_ > 0) return {};
    watched_ = true;
    auto oldest = boot_clock::now();
    for (const worker& w : workers_) {
      if (w.now == mood::fresh) oldest = std::min(oldest, w.since);
    }
    return oldest + patience;
  }

  void watch_at(boot_clock::time_point when) {
    try {
      timers::shared().at(when, [this] { look(); });
    } catch (...) {
      const std::lock_guard lock{mutex_};
      watched_ = false;  // the next post and the end of a callback plan it again
    }
  }

  void look() {
    std::unique_lock lock{mutex_};
    watched_ = false;
    const auto now = boot_clock::now();
    for (worker& w : workers_) {
      if (w.now == mood::fresh && w.since + patience <= now) w.now = mood::slow;
    }
    if (!waiting_.empty() && idle_ == 0 && fresh() == 0) start_worker();
    const auto next = next_watch();
    lock.unlock();
    if (next) watch_at(*next);
  }

  void run(std::list<worker>::iterator self) {
    std::unique_lock lock{mutex_};
    while (await_work(lock, *self)) {
      auto work = std::move(waiting_.front());
      waiting_.pop_front();
      self->since = boot_clock::now();
      const auto next = next_watch();
      lock.unlock();
      if (next) watch_at(*next);
      work();
      work = nullptr;  // destroyed unlocked
      lock.lock();
      const bool replaced = idle_ > 0 || fresh() > (self->now == mood::fresh ? 1U : 0U);
      if (self->now == mood::slow && replaced) break;
      self->now = mood::fresh;
    }
    workers_.erase(self);
  }

  // False: nothing came for a while.
  bool await_work(std::unique_lock<std::mutex>& lock, worker& self) {
    if (!waiting_.empty()) return true;
    self.now = mood::idle;
    ++idle_;
    const bool work = bell_.wait_for(lock, idle_life, [this] { return !waiting_.empty(); });
    --idle_;
    self.now = mood::fresh;
    return work;
  }

  std::mutex mutex_;
  std::condition_variable bell_;
  std::deque<function<void()>> waiting_;
  std::list<worker> workers_;
  std::size_t idle_ = 0;
  bool watched_ = false;
};

notifier::notifier() : impl_(std::make_unique<impl>()) {}
notifier::~notifier() = default;

notifier& notifier::shared() {
  static constinit per_process<notifier> instance;
  return instance.get([] { return std::unique_ptr<notifier>{new notifier}; });
}

void notifier::post(function<void()> f) { impl_->add(std::move(f)); }

}  // namespace afar::detail
