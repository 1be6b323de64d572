#include "measure/rows.hpp"

#include <afar/counter.hpp>
#include <afar/mutex.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <future>
#include <thread>

namespace afar::cli::bench {
namespace {

using clock = std::chrono::steady_clock;
using nanoseconds = std::chrono::nanoseconds;
using durations = std::vector<nanoseconds>;

std::string name_of(const char* what, unsigned number = 0) {
  return "afar:bench/" + std::to_string(::getpid()) + "/" + what + "/" + std::to_string(number);
}

double us(nanoseconds d) { return std::chrono::duration<double, std::micro>(d).count(); }

row summary(std::string what, unsigned threads, durations all, nanoseconds took) {
  row r{.what = std::move(what), .threads = threads, .count = all.size()};
  if (all.empty()) return r;
  std::ranges::sort(all);
  const auto at = [&](double part) {
    return us(all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))]);
  };
  r.per_second = static_cast<double>(all.size()) / std::chrono::duration<double>(took).count();
  r.p50_us = at(0.5);
  r.p99_us = at(0.99);
  r.max_us = us(all.back());
  return r;
}

// Runs `once(thread)` in every thread again and again for that long; it returns what it took.
template <class Once>
row measure(std::string what, unsigned threads, nanoseconds time, Once once) {
  std::barrier together{static_cast<std::ptrdiff_t>(threads) + 1};
  std::atomic<bool> over{false};
  std::vector<std::future<durations>> crew;
  crew.reserve(threads);
  for (unsigned i = 0; i < threads; ++i)
    crew.push_back(std::async(std::launch::async, [&, i] {
      durations mine;
      together.arrive_and_wait();
      while (!over.load(std::memory_order_relaxed)) mine.push_back(once(i));
      return mine;
    }));
  together.arrive_and_wait();
  const auto begun = clock::now();
  std::this_thread::sleep_for(time);
  over = true;
  durations all;
  for (auto& one : crew) {
    const durations more = one.get();
    all.insert(all.end(), more.begin(), more.end());
  }
  return summary(std::move(what), threads, std::move(all), clock::now() - begun);
}

template <class Work>
nanoseconds time_of(Work work) {
  const auto begun = clock::now();
  work();
  return clock::now() - begun;
}

}  // namespace

row own_names(const opener& open, unsigned threads, nanoseconds time) {
  const client one = open();
  std::vector<std::unique_ptr<mutex>> locks;
  locks.reserve(threads);
  for (unsigned i = 0; i < threads; ++i)
    locks.push_back(std::make_unique<mutex>(one, name_of("own", i)));
  return measure("lock + unlock, own names", threads, time, [&](unsigned i) {
    return time_of([&] {
      locks[i]->lock();
      locks[i]->unlock();
    });
  });
}

row one_name(const opener& open, unsigned threads, nanoseconds time) {
  std::vector<client> clients;
  std::vector<std::unique_ptr<mutex>> locks;
  locks.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    clients.push_back(open());
    locks.push_back(std::make_unique<mutex>(clients.back(), name_of("one")));
  }
  return measure("wait for one name", threads, time, [&](unsigned i) {
    const auto waited = time_of([&] { locks[i]->lock(); });
    locks[i]->unlock();
    return waited;
  });
}

constexpr std::chrono::seconds longest_start{10};

row hand_off(const opener& open, nanoseconds time) {
  struct side {
    client locks;
    mutex lock{locks, name_of("hand")};
  };
  side sides[2] = {{open()}, {open()}};
  std::atomic<clock::rep> released{0};
  std::atomic<bool> over{false};
  std::atomic<bool> seen{false};
  // Holds until the other waits, so that every grant is a hand-off.
  const auto play = [&](side& mine, const side& other) {
    durations gaps;
    while (!over) {
      const auto waiting = other.locks.stats().waited;
      mine.lock.lock();
      const auto now = clock::now().time_since_epoch().count();
      if (const auto since = released.load()) {
        gaps.emplace_back(now - since);
        seen = true;
      }
      while (!over && other.locks.stats().waited == waiting) std::this_thread::yield();
      released = clock::now().time_since_epoch().count();
      mine.lock.unlock();
    }
    return gaps;
  };
  const auto begun = clock::now();
  auto theirs = std::async(std::launch::async, [&] { return play(sides[1], sides[0]); });
  auto mine = std::async(std::launch::async, [&] { return play(sides[0], sides[1]); });
  std::this_thread::sleep_for(time);
  // On a busy machine the two may not even have begun: a figure of nothing would be none.
  while (!seen && clock::now() - begun < time + longest_start)
    std::this_thread::sleep_for(time / 10);
  over = true;
  durations all = mine.get();
  const durations more = theirs.get();
  all.insert(all.end(), more.begin(), more.end());
  return summary("hand-off, client to client", 2, std::move(all), clock::now() - begun);
}

row round_trip(const opener& open, nanoseconds time) {
  const client one = open();
  const counter cell{one, name_of("counter")};
  return measure("round trip (read a counter)", 1, time,
                 [&](unsigned) { return time_of([&] { (void)cell.load(); }); });
}

}  // namespace afar::cli::bench
