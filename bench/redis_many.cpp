// P3 and P3a: 64 callers of one client, each on a name of its own. The server has a core, all callers
// share the other one.
#include "clock.hpp"
#include "crowd.hpp"
#include "meter.hpp"
#include "place.hpp"
#include "raw_redis.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "turns.hpp"

#include <fmt/format.h>
#include <afar/asio.hpp>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

// afar and its limits in one layout.
class layout_rows {
 public:
  layout_rows(const redis_host& server, const std::string& layout, turns& all)
      : client_(server.url(layout)), batches_(server.url(), layout) {
    for (std::size_t i = 0; i < callers; ++i) {
      mutexes_.emplace_back(client_, fmt::format("{}/{}", layout, i));
      raw_redis& c = connections_.emplace_back(server.url());
      pairs_.push_back(raw_pair::of(c, layout, fmt::format("{}/raw/{}", layout, i)));
    }
    threads =
        join(all, server, "afar, 64 threads", [this](nanoseconds t) { return sharing_.run(t); });
    coroutines = join(all, server, "afar, 64 coroutines",
                      [this](nanoseconds t) { return run_coroutines(t); });
    limit = join(all, server, "2 batches of 64 in flight",
                 [this](nanoseconds t) { return batches_.run(t); });
    connections = join(all, server, "hiredis, 64 connections",
                       [this](nanoseconds t) { return apart_.run(t); });
  }

  void tell_costs(const std::string& layout, report& out) {
    for (way& w : ways_) {
      w.costs.count_commands([&] {
        const auto start = now_ns();
        const double rate = w.run(20ms);
        return rate * static_cast<double>(now_ns() - start) / 1e9;
      });
      out.add(w.costs.fill({.group = fmt::format("P3: Redis, 64 names, {}'s layout, split", layout),
                            .who = w.name,
                            .rate = w.rates->median(),
                            .spread = w.rates->spread()}));
    }
  }

  const series* threads;
  const series* coroutines;
  const series* limit;
  const series* connections;

 private:
  struct way {
    way(const char* n, const redis_host& server, turns::contender r)
        : name(n), run(std::move(r)), costs(server, 0) {}
    const char* name;
    turns::contender run;
    meter costs;
    const series* rates = nullptr;
  };

  const series* join(turns& all, const redis_host& server, const char* name, turns::contender run) {
    way& w = ways_.emplace_back(name, server, std::move(run));
    return w.rates = &all.add(w.costs.watch(w.run));
  }

  static asio::awaitable<void> visit(const afar::mutex& m, std::int64_t end, std::int64_t& done) {
    for (; now_ns() < end; ++done) co_await afar::async_acquire(m, asio::use_awaitable);
  }

  double run_coroutines(nanoseconds time) {
    asio::io_context loop{1};
    std::int64_t done = 0;
    const auto start = now_ns();
    for (const afar::mutex& m : mutexes_)
      asio::co_spawn(loop, visit(m, start + time.count(), done), asio::detached);
    loop.run();
    return static_cast<double>(done) * 1e9 / static_cast<double>(now_ns() - start);
  }

  std::deque<way> ways_;
  afar::client client_;
  raw_batches batches_;
  std::deque<afar::mutex> mutexes_;
  std::deque<raw_redis> connections_;
  std::vector<raw_pair> pairs_;
  crowd sharing_{[this](std::size_t i) {
    mutexes_[i].lock();
    mutexes_[i].unlock();
  }};
  crowd apart_{[this](std::size_t i) { pairs_[i].run(connections_[i]); }};
};

}  // namespace

void redis_many_callers(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  const pinned here{place.first};
  turns all;
  layout_rows afar{server, "afar", all};
  layout_rows redisson{server, "redisson", all};
  // The threads need time to find their pace, so that no slice may be shorter; of three the median is steady.
  options longer = o;
  longer.seconds *= 3;
  all.run(longer, o.per_round());

  const auto threads = [](const char* layout, const char* beside) {
    return fmt::format("Redis, 64 threads, 1 client, 64 names, {}'s layout, pairs/s, split; {}",
                       layout, beside);
  };
  const auto coroutines = [](const char* layout) {
    return fmt::format(
        "Redis, 64 coroutines on 1 thread, {}'s layout, pairs/s, split; 2 batches "
        "of 64 in flight",
        layout);
  };
  out.add(compare("P3", threads("Redisson", "2 batches of 64 in flight"), *redisson.threads,
                  *redisson.limit, {goal_kind::at_least, 0.70}));
  out.add(compare("P3", threads("Redisson", "hiredis, 64 connections"), *redisson.threads,
                  *redisson.connections, {goal_kind::at_least, 1.5}));
  out.add(compare("P3", threads("afar", "Redisson's layout"), *afar.threads, *redisson.threads,
                  {goal_kind::at_least, 1}));
  out.add(compare("P3 limit", threads("afar", "2 batches of 64 in flight"), *afar.threads,
                  *afar.limit, {}));
  out.add(compare("P3 connections", threads("afar", "hiredis, 64 connections"), *afar.threads,
                  *afar.connections, {}));
  out.add(compare("P3a", coroutines("Redisson"), *redisson.coroutines, *redisson.limit,
                  {goal_kind::at_least, 0.85}));
  out.add(compare("P3a afar", coroutines("afar"), *afar.coroutines, *afar.limit, {}));
  afar.tell_costs("afar", out);
  redisson.tell_costs("Redisson", out);
}

}  // namespace bench
