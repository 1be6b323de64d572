// P18 and P19: a lock on Redis that one thread takes again and again, with a sticky lease and with a round trip
// for each acquire, alone and beside a process that wants it now and then.
//
// Tokens are in the way of a fair figure: a lease has one for each microsecond since the last, and a loop
// takes three. So P18 is measured in bursts, as a program would have them; the other row has no pauses.
#include "clock.hpp"
#include "contender.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "tally.hpp"
#include "turns.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>
#include <string>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr nanoseconds burst = 10ms;  // fewer tokens than gather in a slice
constexpr nanoseconds slice = 100ms;
constexpr std::int64_t now_and_then = 5'000'000;  // ns between the rival's unlock and its next lock

std::string sticky(const redis_host& server) { return server.url() + "?sticky=5ms"; }

// Two processes on the client's core, see rival_child: one has no pause, the other asks now and then.
class couple {
 public:
  couple(const std::string& url, int core)
      : busy_("rival", {url, std::to_string(core)}), rival_("rival", {url, std::to_string(core)}) {}

  void run(nanoseconds time, series& grants, series& waits) {
    const auto start = now_ns() + 30'000'000;  // both have read their order by then
    const auto order = [&](std::int64_t pause) {
      return fmt::format("afar 1 {} {} {}", pause, start, time.count());
    };
    busy_.tell(order(0));
    rival_.tell(order(now_and_then));
    double count = 0;
    double wait = 0;
    std::istringstream{busy_.hear()} >> count >> wait;
    grants.add(count * 1e9 / static_cast<double>(time.count()));
    std::istringstream{rival_.hear()} >> count >> wait;
    waits.add(wait);
  }

 private:
  member busy_;
  member rival_;
};

}  // namespace

void redis_sticky_alone(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  const pinned here{place.first};
  const afar::client keeps{sticky(server)};
  const afar::client asks{server.url()};
  afar_pairs kept{"sticky", keeps, "orders/42"};
  afar_pairs asked{"round trips", asks, "orders/43"};
  const auto pairs_of = [](afar_pairs& p, nanoseconds t) { return rate(t, [&] { p.pair(); }); };
  turns all;
  const series& bursts = all.add([&](nanoseconds t) { return pairs_of(kept, std::min(t, burst)); });
  const series& trips = all.add([&](nanoseconds t) { return pairs_of(asked, t); });
  all.run(o, slice);
  out.add(compare("P18",
                  "Redis, 1 thread, 1 name, pairs/s, sticky lease, bursts of 10 ms, split; a round "
                  "trip for each acquire",
                  bursts, trips, {goal_kind::at_least, 500}));
  series steady;
  pairs_of(kept, 1s);  // takes the tokens of before
  for (int i = 0; i < o.rounds; ++i) steady.add(pairs_of(kept, o.per_round()));
  out.add(compare("P18 steady", "the same without pauses: a token for each microsecond", steady,
                  trips, {}));
  const auto heap = allocations();
  const auto before = keeps.stats();
  pairs_of(kept, burst);
  const auto after = keeps.stats();
  out.add({.id = "P18 heap",
           .what = "Redis, sticky lease, operator new per pair",
           .afar = static_cast<double>(allocations() - heap) /
                   static_cast<double>(after.acquired - before.acquired)});
}

void redis_sticky_wanted(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  couple with{sticky(server), place.first};
  couple without{server.url(), place.first};
  std::mt19937 random{std::random_device{}()};
  series grants[2];
  series waits[2];
  const auto run = [&](std::size_t which, nanoseconds time) {
    (which == 0 ? with : without).run(time, grants[which], waits[which]);
  };
  for (const std::size_t which : {0U, 1U}) run(which, 50ms);  // warm
  for (series& s : grants) s = {};
  for (series& s : waits) s = {};
  const nanoseconds time = 4 * o.per_round();  // a median needs some of the rival's waits
  for (int i = 0; i < o.rounds; ++i) {
    const std::size_t first = random() % 2;
    run(first, time);
    run(1 - first, time);
  }
  out.add(compare("P19",
                  "Redis, wait of a rival process that asks now and then, p50 µs, sticky lease, "
                  "split; a round trip for each acquire",
                  waits[0], waits[1], {goal_kind::at_most, 2.5}));
  out.add(compare("P19 busy", "the same, pairs/s of the one that has no pause", grants[0],
                  grants[1], {}));
}

}  // namespace bench
