// 10,000 coroutines of one process wait for 100 names that another process holds: how many threads
// that takes, and how many steps of the engine until all were served.
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
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
#include <iterator>
#include <list>

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
  int started = 0;
  int served = 0;
  double threads = 0;
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
  s.released_at = now_ns();
  holder.tell("release");
}

}  // namespace

void many_coroutines(const options&, report& out) {
  const scratch folder;
  const cores place = pick_cores();
  arguments held{folder.url(), std::to_string(place.second)};
  for (int i = 0; i < names; ++i) held.push_back(fmt::format("room/{}", i));
  member holder{"hold", held};
  holder.hear();

  const pinned here{place.first};
  const double before = threads_now();
  const afar::client client{folder.url()};
  std::list<afar::mutex> rooms;
  for (int i = 0; i < names; ++i) rooms.emplace_back(client, fmt::format("room/{}", i));
  asio::io_context loop;
  scene s;
  for (int i = 0; i < waiters_per_name; ++i)
    for (afar::mutex& room : rooms) asio::co_spawn(loop, visit(room, s), asio::detached);
  asio::co_spawn(loop, let_go(holder, s), asio::detached);
  loop.run();
  holder.hear();

  const auto stats = client.stats();
  out.add({.id = "threads",
           .what = "10,000 coroutines wait for 100 names, threads of afar, split",
           .afar = s.threads - before,
           .goal = {goal_kind::at_most, 4},
           .note = fmt::format(
               "{} served in {:.0f} ms after the release; {:.2f} steps per grant, {} handed on",
               s.served, static_cast<double>(s.served_at - s.released_at) / 1e6,
               static_cast<double>(stats.steps) / static_cast<double>(stats.acquired),
               stats.handed_on)});
}

}  // namespace bench
