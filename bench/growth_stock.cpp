// growth: what a pair of one thread costs while its client holds more and more other locks, and while more and more names
// are in use. The sizes only grow, so they cannot take turns; the rounds of a size follow each other.
#include "clock.hpp"
#include "contender.hpp"
#include "growth.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t helpers = 16;

// Calls `each` for all numbers from `from` to below `to`, by many threads.
void for_all(std::size_t from, std::size_t to,
             const std::function<void(std::size_t, std::size_t)>& each) {
  std::vector<std::thread> crew;
  crew.reserve(helpers);
  for (std::size_t t = 0; t < helpers; ++t)
    crew.emplace_back([&, t] {
      for (std::size_t i = from + t; i < to; i += helpers) each(t, i);
    });
  for (std::thread& t : crew) t.join();
}

std::size_t largest(const options& o, std::size_t size) { return std::min(size, o.most); }

nanoseconds slice(const options& o) { return std::min<nanoseconds>(o.per_round(), 50ms); }

void grow_holds(const options& o, const std::string& engine, const std::string& url, report& out) {
  const afar::client client{url};
  afar::mutex other{client, "another"};
  std::vector<std::vector<afar::hold>> held(helpers);
  growth figures{"held locks", engine + ", µs per pair of another lock, split"};
  std::size_t have = 0;
  for (std::size_t size = 1; size <= largest(o, 100'000); size *= 10) {
    for_all(have, size, [&](std::size_t t, std::size_t i) {
      held[t].push_back(afar::mutex{client, fmt::format("seat/{}", i)}.acquire());
    });
    have = size;
    for (int i = 0; i < o.rounds; ++i)
      figures.add(size, 1e6 / rate(slice(o), [&] { other.lock(), other.unlock(); }));
  }
  figures.tell(out, flat);
}

// `tree`: what the engine keeps its names in. It takes longer the more of them there are, as it does not fit into a
// cache any more, so that the engine is compared with it instead of with itself.
void grow_names(const options& o, const std::string& engine, const std::string& url,
                lmdb_names* tree, report& out) {
  const afar::client client{url};
  const auto pair = [&](std::size_t i) {
    afar::mutex m{client, fmt::format("order/{}", i)};
    m.lock();
    m.unlock();
  };
  std::mt19937_64 random{std::random_device{}()};
  const auto raw_pair = [&](std::size_t i) { tree->pair(fmt::format("order/{}", i)); };
  const std::string what = ", µs per pair of a random name, split";
  growth figures{"names in use", engine + what};
  growth limit{"names in use", "raw LMDB" + what};
  std::size_t have = 0;
  for (std::size_t size = 1; size <= largest(o, 1'000'000); size *= 10) {
    for_all(have, size, [&](std::size_t, std::size_t i) { pair(i); });
    if (tree)
      for (std::size_t i = have; i < size; ++i) raw_pair(i);
    have = size;
    std::uniform_int_distribution<std::size_t> any{0, size - 1};
    for (int i = 0; i < o.rounds; ++i) {
      figures.add(size, 1e6 / rate(slice(o), [&] { pair(any(random)); }));
      if (tree) limit.add(size, 1e6 / rate(slice(o), [&] { raw_pair(any(random)); }));
    }
  }
  figures.tell(out, tree ? goal{} : flat);
  if (!tree) return;
  limit.tell(out, {});
  out.add(compare("growth", fmt::format("names in use: {}{}, {}; raw LMDB", engine, what, have),
                  figures.at_largest(), limit.at_largest(), {goal_kind::at_most, 2}));
}

}  // namespace

void growth_of_stock(const options& o, report& out) {
  const cores place = pick_cores();
  if (o.wants_engine("redis")) {
    const redis_host server{place.second};
    const pinned here{place.first};
    grow_holds(o, "Redis", server.url(), out);
    grow_names(o, "Redis", server.url(), nullptr, out);
  }
  if (o.wants_engine("embedded")) {
    const scratch holds;
    const scratch names;
    lmdb_names tree{names};
    const pinned here{place.first};
    grow_holds(o, "embedded", holds.url(), out);
    grow_names(o, "embedded", names.url(), &tree, out);
  }
}

}  // namespace bench
