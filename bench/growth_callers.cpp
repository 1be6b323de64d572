// growth: what a pair costs while more and more threads, processes or coroutines want one. All sizes take turns.
#include "clock.hpp"
#include "crew.hpp"
#include "crowd.hpp"
#include "growth.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <afar/asio.hpp>
#include <afar/client.hpp>
#include <afar/error.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

std::vector<std::size_t> sizes(const options& o, std::size_t factor, std::size_t largest) {
  std::vector<std::size_t> all;
  for (std::size_t s = 1; s <= std::min(largest, o.most); s *= factor) all.push_back(s);
  return all;
}

// In rounds, in a new order each time.
void in_turns(const options& o, std::vector<std::size_t> all,
              const std::function<void(std::size_t)>& measure) {
  std::mt19937 random{std::random_device{}()};
  for (int i = 0; i < o.rounds; ++i) {
    std::shuffle(all.begin(), all.end(), random);
    for (const std::size_t size : all) measure(size);
  }
}

void grow_threads(const options& o, const std::string& engine, const std::string& url, goal g,
                  report& out) {
  const afar::client client{url};
  std::deque<afar::mutex> mutexes;
  for (std::size_t i = 0; i < callers; ++i) mutexes.emplace_back(client, fmt::format("m{}", i));
  growth figures{"threads of one client",
                 engine + ", µs per pair, each thread its own name, split"};
  in_turns(o, sizes(o, 2, callers), [&](std::size_t size) {
    crowd threads{[&](std::size_t i) { mutexes[i].lock(), mutexes[i].unlock(); }, size};
    figures.add(size, 1e6 / threads.run(o.per_round()));
  });
  figures.tell(out, g);
}

// Lines of the role "pairs": a name, when to start and for how long; answers with a rate.
double rate_of(std::deque<member>& all, std::size_t size, bool one_name, nanoseconds time) {
  const auto start = now_ns() + 10'000'000;
  for (std::size_t i = 0; i < size; ++i)
    all[i].tell(fmt::format("job/{} {} {}", one_name ? 0 : i, start, time.count()));
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += std::stod(all[i].hear());
  return sum;
}

// Processes of a second core run on it if `both`.
void grow_processes(const options& o, const std::string& engine, const std::string& url, bool both,
                    report& out) {
  const cores place = pick_cores();
  std::deque<member> all;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, o.most); ++i)
    all.emplace_back(
        "pairs", arguments{url, std::to_string(both && i % 2 == 1 ? place.second : place.first)});
  const char* const where = both ? "both cores" : "split";
  growth own{"processes", fmt::format("{}, µs per pair, each its own name, {}", engine, where)};
  growth one{"processes", fmt::format("{}, µs per grant, all one name, {}", engine, where)};
  const nanoseconds time = o.per_round();
  in_turns(o, sizes(o, 2, all.size()), [&](std::size_t size) {
    own.add(size, 1e6 / rate_of(all, size, false, time));
    one.add(size, 1e6 / rate_of(all, size, true, time));
  });
  own.tell(out, flat);
  one.tell(out, {});  // one process has nobody to hand it to
}

struct line {
  std::size_t wanted = 0;
  std::size_t standing = 0;  // have come to the lock
  bool over = false;
  std::int64_t grants = 0;
};

template <class Mutex>
asio::awaitable<void> come_again(const Mutex& m, line& l) {
  for (bool first = true; !l.over; first = false) {
    if (first) ++l.standing;
    co_await afar::async_acquire(m, asio::use_awaitable);
    ++l.grants;
  }
}

struct grants {
  double count = 0;
  double seconds = 0;
  double requests = 0;
};

asio::awaitable<void> watch_line(line& l, nanoseconds time,
                                 const std::function<std::uint64_t()>& requests, grants& seen) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  while (l.standing < l.wanted) {
    timer.expires_after(1ms);
    co_await timer.async_wait(asio::use_awaitable);
  }
  const auto before = l.grants;
  const auto asked = requests();
  const auto start = now_ns();
  timer.expires_after(time);
  co_await timer.async_wait(asio::use_awaitable);
  seen = {static_cast<double>(l.grants - before), static_cast<double>(now_ns() - start) / 1e9,
          static_cast<double>(requests() - asked)};
  l.over = true;
}

// So many coroutines of one client want one lock all the time.
grants stand_in_line(const afar::mutex& m, std::size_t size, nanoseconds time,
                     const std::function<std::uint64_t()>& requests) {
  asio::io_context loop{1};
  line l{.wanted = size};
  grants seen;
  for (std::size_t i = 0; i < size; ++i) asio::co_spawn(loop, come_again(m, l), asio::detached);
  asio::co_spawn(loop, watch_line(l, time, requests, seen), asio::detached);
  loop.run();
  return seen;
}

void grow_waiters(const options& o, const std::string& engine, const std::string& url,
                  const std::function<std::uint64_t()>& requests, report& out) {
  const afar::client client{url};
  const afar::mutex m{client, "prize"};
  growth times{"waiters for one lock", engine + ", µs per grant, split"};
  growth asked{"waiters for one lock", engine + ", requests per grant, split"};
  in_turns(o, sizes(o, 10, 10'000), [&](std::size_t size) {
    const grants seen = stand_in_line(m, size, o.per_round(), requests);
    times.add(size, seen.seconds * 1e6 / std::max(1.0, seen.count));
    asked.add(size, seen.requests / std::max(1.0, seen.count));
  });
  constexpr std::size_t shortest_line = 10;  // one alone waits for nobody
  times.tell(out, flat, shortest_line);
  if (engine == "Redis") asked.tell(out, flat, shortest_line);
}

asio::awaitable<void> come_until_closed(const afar::fair_mutex& m, line& l) {
  try {
    co_await come_again(m, l);
  } catch (const afar::lock_error&) {  // the client was closed
  }
}

// As above, but every waiter has a place in the engine's own line. Who waits asks again every second, so that a line can be
// too long for what its steps cost: it is measured when it has just formed, and left by closing the client.
void grow_places(const options& o, const std::string& engine, const std::string& url, report& out) {
  growth times{"waiters in the engine's line", engine + ", µs per grant of a fair_mutex, split"};
  const nanoseconds time = std::min<nanoseconds>(o.per_round(), 100ms);
  const std::function<std::uint64_t()> nothing_asked = [] { return 0; };
  in_turns(o, sizes(o, 10, 10'000), [&](std::size_t size) {
    afar::client client{url};
    const afar::fair_mutex m{client, fmt::format("line/{}", size)};
    asio::io_context loop{1};
    line l{.wanted = size};
    grants seen;
    for (std::size_t i = 0; i < size; ++i)
      asio::co_spawn(loop, come_until_closed(m, l), asio::detached);
    asio::co_spawn(loop, watch_line(l, time, nothing_asked, seen),
                   [&](const std::exception_ptr&) { client.close(); });
    loop.run();
    times.add(size, seen.seconds * 1e6 / std::max(1.0, seen.count));
  });
  times.tell(out, {}, 10);  // one alone waits for nobody
}

}  // namespace

void growth_of_callers(const options& o, report& out) {
  const cores place = pick_cores();
  if (o.wants_engine("redis")) {
    const redis_host server{place.second};
    const pinned here{place.first};
    grow_threads(o, "Redis", server.url(), {goal_kind::at_most, 1}, out);
    grow_waiters(o, "Redis", server.url(), [&] { return server.requests(); }, out);
    grow_processes(o, "Redis", server.url(), false, out);
  }
  if (o.wants_engine("embedded")) {
    const scratch folder;
    const pinned here{place.first};
    grow_threads(o, "embedded", folder.url(), flat, out);
    grow_waiters(o, "embedded", folder.url(), [] { return 0; }, out);
    grow_places(o, "embedded", folder.url(), out);
    grow_processes(o, "embedded", folder.url(), true, out);
  }
}

}  // namespace bench
