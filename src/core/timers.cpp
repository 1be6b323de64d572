// Invariants, under the mutex:
//   1. `due_` and `times_` hold the same ids.
//   2. The timerfd is armed for `armed_`, which is not later than the first of `due_`. (It may be
//      earlier after a cancel; that costs one look, less than arming again.)
#include "core/timers.hpp"

#include "core/fork_guard.hpp"

#include <afar/spi/own_thread.hpp>

#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>

namespace afar::detail {
namespace {

constexpr auto never = boot_clock::time_point::max();

int make_timerfd() {
  const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
  if (fd < 0) throw std::system_error(errno, std::system_category(), "afar: timerfd");
  return fd;
}

// A thread inherits the signal mask of its maker.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;
  ~all_signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

struct timers::impl {
  impl() : fd_(make_timerfd()) {}
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() { ::close(fd_); }

  id add(boot_clock::time_point when, function<void()> f) {
    const std::lock_guard lock{mutex_};
    if (!started_) start();
    const id mine = next_++;
    const auto place = times_.emplace(mine, when).first;
    try {
      due_.emplace(std::pair{when, mine}, std::move(f));
    } catch (...) {
      times_.erase(place);
      throw;
    }
    if (when < armed_) arm(when);
    return mine;
  }

  bool remove(id which) noexcept {
    std::map<std::pair<boot_clock::time_point, id>, function<void()>>::node_type removed;
    const std::lock_guard lock{mutex_};  // declared last: what is removed is destroyed unlocked
    const auto at = times_.find(which);
    if (at == times_.end()) return false;
    removed = due_.extract({at->second, which});
    times_.erase(at);
    return true;
  }

  std::size_t waiting() {
    const std::lock_guard lock{mutex_};
    return due_.size();
  }

 private:
  void start() {
    start_own_thread("afar-timer", [this] { run(); });
    started_ = true;
  }

  void arm(boot_clock::time_point when) noexcept {
    armed_ = when;
    // Zero would disarm it; anything in the past fires at once.
    const auto since_boot = std::max(when.time_since_epoch(), std::chrono::nanoseconds{1});
    itimerspec spec{};
    if (when != never) {
      spec.it_value.tv_sec = static_cast<time_t>(since_boot.count() / 1'000'000'000);
      spec.it_value.tv_nsec = static_cast<long>(since_boot.count() % 1'000'000'000);
    }
    ::timerfd_settime(fd_, TFD_TIMER_ABSTIME, &spec, nullptr);
  }

  void run() noexcept {
    for (;;) {
      run_due();
      std::uint64_t expirations = 0;
      if (::read(fd_, &expirations, sizeof expirations) < 0 && errno != EINTR) {
        // Somebody closed descriptors that are not his. Leases must not depend on it.
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
    }
  }

  void run_due() {
    std::unique_lock lock{mutex_};
    while (!due_.empty() && due_.begin()->first.first <= boot_clock::now()) {
      auto next = due_.extract(due_.begin());
      times_.erase(next.key().second);
      lock.unlock();
      next.mapped()();
      next = {};  // destroyed unlocked: its captures may use timers, too
      lock.lock();
    }
    arm(due_.empty() ? never : due_.begin()->first.first);
  }

  const int fd_;
  std::mutex mutex_;
  std::map<std::pair<boot_clock::time_point, id>, function<void()>> due_;
  std::unordered_map<id, boot_clock::time_point> times_;
  boot_clock::time_point armed_ = never;
  // A child that cancels a timer of its parent must not hit one of its own.
  id next_ = (id{fork_generation.load(std::memory_order_relaxed)} << 40) + 1;
  bool started_ = false;
};

timers::timers() : impl_(std::make_unique<impl>()) {}
timers::~timers() = default;

timers& timers::shared() {
  static constinit per_process<timers> instance;
  return instance.get([] { return std::unique_ptr<timers>{new timers}; });
}

timers::id timers::at(boot_clock::time_point when, function<void()> f) {
  return impl_->add(when, std::move(f));
}

bool timers::cancel(id which) noexcept { return impl_->remove(which); }
std::size_t timers::waiting() const { return impl_->waiting(); }

void start_own_thread(const char* name, function<void()> body) {
  const all_signals_blocked quiet;
  std::thread{[name, body = std::move(body)]() mutable {
    ::pthread_setname_np(::pthread_self(), name);
    spi::own_thread = true;
    body();
  }}.detach();
}

}  // namespace afar::detail
