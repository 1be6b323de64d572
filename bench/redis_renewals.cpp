// P6: 100,000 holds of one client on Redis that keep their leases: how many requests that takes, and
// what other calls of the same client notice of it.
#include "clock.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <chrono>
#include <thread>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr int holds = 100'000;
constexpr int threads = 16;
constexpr std::chrono::milliseconds lease = 30s;
constexpr std::chrono::milliseconds tick = lease / 3;
constexpr int ticks = 7;

std::vector<afar::hold> acquire_all(const afar::client& client) {
  std::vector<std::vector<afar::hold>> parts(threads);
  std::vector<std::thread> crew;
  for (int t = 0; t < threads; ++t)
    crew.emplace_back([&, t] {
      for (int i = t; i < holds; i += threads)
        parts[static_cast<std::size_t>(t)].push_back(
            afar::mutex{client, fmt::format("seat/{}", i)}.acquire());
    });
  for (std::thread& t : crew) t.join();
  std::vector<afar::hold> all;
  for (auto& part : parts)
    for (afar::hold& h : part) all.push_back(std::move(h));
  return all;
}

struct others {
  series p99;  // milliseconds, of each round
  double calls = 0;
};

// Pairs of another name of the same client, so many that the slowest hundredth of a round is not a handful.
others call_for(const afar::client& client, nanoseconds time, int rounds) {
  afar::mutex m{client, "another"};
  others all;
  for (int i = 0; i < rounds; ++i) {
    series waits;
    for (const auto end = now_ns() + time.count() / rounds; now_ns() < end; ++all.calls) {
      const auto start = now_ns();
      m.acquire().release();
      waits.add(static_cast<double>(now_ns() - start) / 1e6);
      sleep_for(500us);
    }
    all.p99.add(waits.quantile(0.99));
  }
  return all;
}

}  // namespace

void redis_renewals(const options&, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  const pinned here{place.first};
  const afar::client client{server.url(), {.lease = lease}};
  const others before = call_for(client, ticks * tick, ticks);
  std::vector<afar::hold> all = acquire_all(client);
  // The first renewal of a hold is a longer one: it is shown, and not mixed with what goes on for ever then.
  const others at_first = call_for(client, tick, 1);

  const auto renewed = client.stats().renewed;
  const auto requests = server.requests();
  // Whole ticks: in a part of one there may be no renewal.
  const others meanwhile = call_for(client, ticks * tick, ticks);
  const double asked = static_cast<double>(server.requests() - requests) - 2 * meanwhile.calls;
  const auto stats = client.stats();
  out.add({.id = "P6",
           .what = "Redis, 100,000 holds, requests per tick (a third of the lease), split",
           .afar = asked / ticks,
           .goal = {goal_kind::at_most, holds / 100},
           .note = fmt::format("{} renewals in {} ticks", stats.renewed - renewed, ticks)});
  out.add({.id = "P6",
           .what = "Redis, 100,000 holds, lost",
           .afar = static_cast<double>(stats.lost),
           .goal = {goal_kind::at_most, 0}});
  row other_calls =
      compare("P6", "Redis, 100,000 holds, other calls' p99 ms, split; before the holds",
              meanwhile.p99, before.p99, {goal_kind::at_most, 2});
  other_calls.note +=
      fmt::format("; {:.2f} ms in the first tick, before these", at_first.p99.median());
  out.add(other_calls);
}

}  // namespace bench
