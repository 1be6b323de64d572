// P16: a thread that locks again what it holds. The engine must not notice.
#include "clock.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <afar/client.hpp>
#include <afar/recursive_mutex.hpp>

#include <chrono>
#include <random>

namespace bench {

namespace {

struct rates {
  series first;  // acquires of a free lock, per second
  series again;  // re-entries, per second
  series steps;  // of the engine per re-entry
};

rates measure(const options& o, const std::string& url) {
  const afar::client client{url};
  afar::recursive_mutex m{client, "orders/42"};
  const auto pair = [&] {
    m.lock();
    m.unlock();
  };
  pair();

  std::mt19937 random{std::random_device{}()};
  rates all;
  const auto acquire = [&] { all.first.add(rate(o.per_round(), pair)); };
  const auto reenter = [&] {
    m.lock();
    const auto before = client.stats();
    all.again.add(rate(o.per_round(), pair));
    const auto after = client.stats();
    m.unlock();
    // A renewal is a step too, but the lease is longer than a round.
    all.steps.add(static_cast<double>(after.steps - before.steps) /
                  static_cast<double>(after.reentered - before.reentered));
  };
  for (int i = 0; i < o.rounds; ++i) {
    const bool first_first = random() % 2 == 0;
    if (first_first) acquire();
    reenter();
    if (!first_first) acquire();
  }
  return all;
}

}  // namespace

void reentry(const options& o, report& out) {
  const scratch folder;
  const pinned here{pick_cores().first};
  const rates all = measure(o, folder.url());
  out.add({.id = "P16",
           .what = "recursive_mutex, steps of the engine per re-entry",
           .afar = all.steps.max(),
           .goal = {goal_kind::at_most, 0}});
  out.add(compare("P16 time", "re-entries/s, same; first acquires/s of the embedded engine",
                  all.again, all.first, {}));
}

void redis_reentry(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  const pinned here{place.first};
  const rates all = measure(o, server.url());
  out.add({.id = "P16",
           .what = "Redis, recursive_mutex, requests per re-entry",
           .afar = all.steps.max(),
           .goal = {goal_kind::at_most, 0}});
  out.add(compare("P16", "re-entries/s, split; first acquires/s on Redis", all.again, all.first,
                  {goal_kind::at_least, 1'000}));
}

}  // namespace bench
