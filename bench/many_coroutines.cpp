// P7 and, embedded, threads: 10,000 coroutines of one process wait for 100 names that another process holds: how many threads
// that takes, and how many steps of the engine until all were served.
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <afar/asio.hpp>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <list>
#include <utility>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr int names = 100;
constexpr int waiters_per_name = 100;
constexpr int waiters = names * waiters_per_name;

double threads_now() {
  return static_cast<double>(std::distance(std::filesystem::directory_iterator{"/proc/self/task"},
                                           std::filesystem::directory_iterator{}));
}

struct scene {
  std::function<std::uint64_t()> requests;  // of all clients so far
  int started = 0;
  int served = 0;
  double threads = 0;
  std::uint64_t requests_before = 0;  // the release
  std::int64_t released_at = 0;
  std::int64_t served_at = 0;
};

asio::awaitable<void> visit(afar::mutex& m, scene& s) {
  ++s.started;
  {
    const afar::hold h = co_await afar::async_acquire(m, asio::use_awaitable);
    s.threads = std::max(s.threads, s.served % 100 == 0 ? threads_now() : 0);
  }
  if (++s.served == waiters) s.served_at = now_ns();
}

asio::awaitable<void> let_go(member& holder, scene& s) {
  asio::steady_timer timer{co_await asio::this_coro::executor};
  do {  // until all wait, and a moment more for what their waits need to settle
    timer.expires_after(500ms);
    co_await timer.async_wait(asio::use_awaitable);
  } while (s.started < waiters);
  s.threads = threads_now();
  s.requests_before = s.requests();
  s.released_at = now_ns();
  holder.tell("release");
}

struct figures {
  scene seen;
  double threads = 0;   // of afar
  double requests = 0;  // after the release, per grant
  afar::statistics stats;
};

// `core`: of the holder.
figures wait_for_rooms(const std::string& url, int core, std::function<std::uint64_t()> requests) {
  arguments held{url, std::to_string(core)};
  for (int i = 0; i < names; ++i) held.push_back(fmt::format("room/{}", i));
  member holder{"hold", held};
  holder.hear();

  const double before = threads_now();
  const afar::client client{url};
  std::list<afar::mutex> rooms;
  for (int i = 0; i < names; ++i) rooms.emplace_back(client, fmt::format("room/{}", i));
  asio::io_context loop;
  scene s{.requests = std::move(requests)};
  for (int i = 0; i < waiters_per_name; ++i)
    for (afar::mutex& room : rooms) asio::co_spawn(loop, visit(room, s), asio::detached);
  asio::co_spawn(loop, let_go(holder, s), asio::detached);
  loop.run();
  holder.hear();
  const auto asked = static_cast<double>(s.requests() - s.requests_before);
  return {s, s.threads - before, asked / waiters, client.stats()};
}

std::string note_of(const figures& f) {
  return fmt::format(
      "{} served in {:.0f} ms after the release; {:.2f} steps per grant, {} handed on",
      f.seen.served, static_cast<double>(f.seen.served_at - f.seen.released_at) / 1e6,
      static_cast<double>(f.stats.steps) / static_cast<double>(f.stats.acquired),
      f.stats.handed_on);
}

}  // namespace

void many_coroutines(const options&, report& out) {
  const scratch folder;
  const cores place = pick_cores();
  const pinned here{place.first};
  const figures f = wait_for_rooms(folder.url(), place.second, [] { return 0; });
  out.add({.id = "threads",
           .what = "10,000 coroutines wait for 100 names, threads of afar, split",
           .afar = f.threads,
           .goal = {goal_kind::at_most, 4},
           .note = note_of(f)});
}

void redis_many_coroutines(const options&, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  const pinned here{place.first};
  const figures f =
      wait_for_rooms(server.url(), place.first, [&server] { return server.requests(); });
  out.add({.id = "P7",
           .what = "Redis, 10,000 coroutines wait for 100 names, threads of afar, split",
           .afar = f.threads,
           .goal = {goal_kind::at_most, 4},
           .note = note_of(f)});
  // 2.2: what P4 allows a hand-off between processes.
  out.add({.id = "P7",
           .what = "Redis, 10,000 coroutines wait for 100 names, requests per hand-off, split",
           .afar = f.requests,
           .goal = {goal_kind::at_most, 2.2}});
}

}  // namespace bench
