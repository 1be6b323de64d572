#include "engines/sql/crew.hpp"

#include "engines/sql/threads.hpp"
#include "engines/this_process.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

namespace afar::engines::sql {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_idle = 10s;  // then a worker ends
constexpr auto extra_idle = 200ms;  // the same, for one more than callers need
constexpr crew::id of_timer = 0;
constexpr crew::id nobody = ~crew::id{0};

int checked(int fd) {
  if (fd < 0) throw std::system_error{errno, std::generic_category()};
  return fd;
}

}  // namespace

crew& crew::here() { return this_process<crew>(); }

crew::crew()
    : events_(checked(::epoll_create1(EPOLL_CLOEXEC))),
      timer_(checked(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK))) {
  epoll_event e{};
  e.events = EPOLLIN | EPOLLET;
  e.data.u64 = of_timer;
  ::epoll_ctl(events_, EPOLL_CTL_ADD, timer_, &e);
}

crew::~crew() {  // of one that another thread's overtook; nobody has joined it
  ::close(events_);
  ::close(timer_);
}

crew::id crew::join(std::shared_ptr<member> m) {
  const std::lock_guard lock{mutex_};
  members_.emplace(++last_id_, std::move(m));
  if (!std::exchange(keeper_, true)) start_thread([this] { keep(); });
  return last_id_;
}

void crew::leave(id who) noexcept {
  std::shared_ptr<member> last;  // not destroyed under the lock
  const std::lock_guard lock{mutex_};
  const auto at = members_.find(who);
  if (at == members_.end()) return;
  last = std::move(at->second);
  members_.erase(at);
  if (!members_.empty()) return;
  work_.notify_all();
  set_timer(boot_clock::now());
}

// ---- workers ------------------------------------------------------------------------------------

void crew::help() noexcept {
  if (waiting_.load() == 0) return;
  const std::lock_guard lock{mutex_};
  if (short_of_workers(0)) add_worker();
}

bool crew::short_of_workers(std::size_t more) const noexcept {
  const std::size_t callers = callers_.load();
  const std::size_t most = callers == 0 ? 1 : callers + away_.load();
  return calls_.size() > idle_ && workers_ < most + more;
}

// Where no thread can be had, those that there are do it later.
void crew::add_worker() {
  try {
    start_thread([this] { work(); });
    ++workers_;
  } catch (const std::system_error&) {
    if (workers_ == 0) throw;
  }
}

void crew::call(std::shared_ptr<member> who, urgency how) {
  const std::lock_guard lock{mutex_};
  const auto now = boot_clock::now();
  const bool urgent = how == urgency::urgent;
  calls_.insert(urgent ? calls_.begin() : calls_.end(), {std::move(who), now});
  waiting_ = calls_.size();
  if (calls_.size() <= idle_)
    work_.notify_one();
  else if (short_of_workers(urgent ? 1 : 0))
    add_worker();
  else
    set_timer(now + stuck_after);
}

void crew::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    ++idle_;
    const bool extra = workers_ > std::max<std::size_t>(callers_.load(), 1);
    work_.wait_for(lock, extra ? extra_idle : longest_idle,
                   [&] { return !calls_.empty() || members_.empty(); });
    --idle_;
    if (calls_.empty()) break;
    auto who = std::move(calls_.front().who);
    calls_.pop_front();
    waiting_ = calls_.size();
    lock.unlock();
    who->serve();
    who.reset();
    lock.lock();
  }
  --workers_;
}

// ---- the keeper ---------------------------------------------------------------------------------

void crew::attend_by(spi::time_point t) noexcept {
  const std::lock_guard lock{mutex_};
  set_timer(t);
}

void crew::set_timer(spi::time_point t) noexcept {
  asked_ = std::min(asked_, t);
  if (t >= set_) return;
  set_ = t;
  const auto ns = std::max<std::int64_t>(t.time_since_epoch().count(), 1);  // 0 would disarm it
  itimerspec at{};
  at.it_value = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void crew::hear(id who, int socket) noexcept {
  epoll_event e{};
  e.events = EPOLLIN | EPOLLONESHOT;
  e.data.u64 = who;
  if (::epoll_ctl(events_, EPOLL_CTL_MOD, socket, &e) != 0)
    ::epoll_ctl(events_, EPOLL_CTL_ADD, socket, &e);
}

void crew::hear_no_more(int socket) noexcept {
  epoll_event e{};
  e.events = EPOLLONESHOT;  // its end is told nevertheless, but not for ever
  e.data.u64 = nobody;
  ::epoll_ctl(events_, EPOLL_CTL_MOD, socket, &e);
}

void crew::keep() {
  std::unique_lock lock{mutex_};
  while (!members_.empty()) {
    lock.unlock();
    std::array<epoll_event, 16> happened;
    const int n = ::epoll_wait(events_, happened.data(), static_cast<int>(happened.size()), -1);
    lock.lock();
    for (int i = 0; i < n; ++i) {
      const id who = happened[static_cast<std::size_t>(i)].data.u64;
      if (who == of_timer) {
        attend_all(lock);
        continue;
      }
      const auto at = members_.find(who);
      if (at == members_.end()) continue;
      auto m = at->second;
      lock.unlock();
      m->heard();
      m.reset();
      lock.lock();
    }
  }
  keeper_ = false;
}

void crew::attend_all(std::unique_lock<std::mutex>& lock) {
  set_ = spi::time_point::min();  // nobody need wake us now
  asked_ = spi::time_point::max();
  std::vector<std::shared_ptr<member>> all;
  all.reserve(members_.size());
  for (const auto& [who, m] : members_) all.push_back(m);
  lock.unlock();
  const auto now = boot_clock::now();
  auto next = spi::time_point::max();
  for (const auto& m : all) next = std::min(next, m->attend(now));
  all.clear();
  lock.lock();
  if (!calls_.empty()) {
    const auto stuck = std::ranges::min(calls_, {}, &wanted::since).since + stuck_after;
    if (stuck <= now) add_worker();
    next = std::min(next, stuck <= now ? now + stuck_after : stuck);
  }
  set_ = spi::time_point::max();
  next = std::min(next, asked_);
  if (next != spi::time_point::max()) set_timer(next);
}

}  // namespace afar::engines::sql
