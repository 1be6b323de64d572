#include "take.hpp"

#include "failure.hpp"

#include <afar/election.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/mutex.hpp>
#include <afar/shared_mutex.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stop_token>
#include <thread>
#include <utility>

namespace afar::cli {
namespace {

using std::chrono::nanoseconds;

// How long -n asks an engine again that did not answer in time, and how often.
constexpr std::chrono::seconds late_step{5};
constexpr milliseconds between_tries{10};

template <class Now, class Within, class Ever>
hold take_by(const limit& by, Now now, Within within, Ever ever) {
  if (!by) return ever();
  const auto left = *by - boot_clock::now();
  return left <= nanoseconds{0} ? now() : within(left);
}

// Reads signals and news on a thread of its own while the lock is waited for.
class listener {
 public:
  listener(const signals& from, wire& front)
      : signals_(from),
        wire_(front),
        end_(::eventfd(0, EFD_CLOEXEC)),
        thread_([this] { listen(); }) {}
  ~listener() { stop(); }

  std::stop_token heard() const noexcept { return heard_.get_token(); }
  int stop() {  // the signal that was heard; 0: none
    if (thread_.joinable()) {
      ::eventfd_write(end_, 1);
      thread_.join();
      ::close(end_);
    }
    return signal_;
  }

 private:
  void listen() {
    while (signal_ == 0) {
      pollfd all[] = {{end_, POLLIN, 0}, {signals_.file(), POLLIN, 0}, {wire_.file(), POLLIN, 0}};
      ::poll(all, 3, -1);
      if (all[0].revents != 0) return;
      while (const int s = signals_.next()) hear(s);
      while (const auto n = wire_.next()) hear(n->number);
      if (wire_.cut()) signal_ = SIGHUP;
    }
    heard_.request_stop();
  }
  void hear(int s) {
    if (signal_ == 0 && (asks_to_leave(s) || s == SIGTSTP)) signal_ = s;
  }

  const signals& signals_;
  wire& wire_;
  const int end_;
  int signal_ = 0;
  std::stop_source heard_;
  std::thread thread_;
};

// What was stopped with its shell's job must not be granted a lock meanwhile.
int sleep_until_continued(const signals& from, wire& front) {
  front.send({news::what::stopped, 0});
  for (;;) {
    pollfd both[] = {{from.file(), POLLIN, 0}, {front.file(), POLLIN, 0}};
    ::poll(both, 2, -1);
    int s = from.next();
    if (s == 0)
      if (const auto n = front.next()) s = n->number;
    if (front.cut()) return SIGHUP;
    if (s == SIGCONT) return 0;
    if (asks_to_leave(s)) return s;
  }
}

}  // namespace

limit limit_of(const std::optional<milliseconds>& wait) {
  constexpr milliseconds longest = std::chrono::hours{24 * 365 * 100};  // more has no nanoseconds
  if (!wait) return std::nullopt;
  return boot_clock::now() + std::min(*wait, longest);
}

hold take_once(const client& c, const run_plan& p, const limit& by,
               const std::stop_token& stop) try {
  const acquire_options o{.stop = stop};
  const auto plain = [&](auto&& lock) {
    return take_by(
        by, [&] { return lock.try_acquire(o); },
        [&](nanoseconds d) { return lock.try_acquire_for(d, o); }, [&] { return lock.acquire(o); });
  };
  switch (p.kind) {
    case lock_kind::mutex:
      return plain(mutex{c, p.name});
    case lock_kind::fair:
      return plain(fair_mutex{c, p.name});
    case lock_kind::exclusive:
      return plain(shared_mutex{c, p.name});
    case lock_kind::shared: {
      shared_mutex lock{c, p.name};
      return take_by(
          by, [&] { return lock.try_acquire_shared(o); },
          [&](nanoseconds d) { return lock.try_acquire_shared_for(d, o); },
          [&] { return lock.acquire_shared(o); });
    }
    case lock_kind::permits: {
      leased_semaphore lock{c, p.name, p.limit};
      return take_by(
          by, [&] { return lock.try_acquire(p.permits, o); },
          [&](nanoseconds d) { return lock.try_acquire_for(d, p.permits, o); },
          [&] { return lock.acquire(p.permits, o); });
    }
    case lock_kind::election: {
      election race{c, p.name};
      const auto within = [&](nanoseconds d) { return race.try_campaign_for(d, p.value, o); };
      return take_by(
          by, [&] { return within(nanoseconds{0}); }, within,
          [&] { return race.campaign(p.value, o); });
    }
  }
  return {};
} catch (const lock_error& e) {
  if (e.code() != errc::wrong_use) throw;
  throw failure{exit_code::usage, words_of(e) + way_in(c, p.name)};
}

hold try_take(const client& c, const run_plan& p) {
  const auto patience = boot_clock::now() + late_step;
  for (;;) {
    try {
      return take_once(c, p, boot_clock::time_point{}, {});
    } catch (const lock_error& e) {
      if (e.code() != errc::unavailable) throw;
      if (p.wait != milliseconds{0}) return {};
      if (boot_clock::now() >= patience) throw;
      std::this_thread::sleep_for(between_tries);
    }
  }
}

taken take(const client& c, const run_plan& p, const signals& from, wire& front) {
  const limit by = limit_of(p.wait);
  // Most locks are free: then no thread is needed to listen.
  if (hold got = try_take(c, p)) return {std::move(got), 0};
  if (p.wait == milliseconds{0}) return {};
  for (;;) {
    listener ear{from, front};
    hold got;
    try {
      got = take_once(c, p, by, ear.heard());
    } catch (const lock_error& e) {
      if (e.code() != errc::cancelled) throw;
    }
    int s = ear.stop();
    if (s == SIGTSTP) {
      got = {};
      s = sleep_until_continued(from, front);
      if (s == 0) continue;
    }
    if (s != 0) return {{}, s};
    return {std::move(got), 0};
  }
}

}  // namespace afar::cli
