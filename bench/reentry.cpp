// P16: a thread that locks again what it holds. The engine must not notice.
#include "clock.hpp"
#include "place.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <afar/client.hpp>
#include <afar/recursive_mutex.hpp>

#include <chrono>
#include <random>

namespace bench {

void reentry(const options& o, report& out) {
  const scratch folder;
  const pinned here{pick_cores().first};
  const afar::client client{folder.url()};
  afar::recursive_mutex m{client, "orders/42"};
  const auto pair = [&] {
    m.lock();
    m.unlock();
  };
  pair();

  std::mt19937 random{std::random_device{}()};
  series first;
  series again;
  series steps;
  const auto acquire = [&] { first.add(rate(o.per_round(), pair)); };
  const auto reenter = [&] {
    m.lock();
    const auto before = client.stats();
    again.add(rate(o.per_round(), pair));
    const auto after = client.stats();
    m.unlock();
    // A renewal is a step too, but the lease is longer than a round.
    steps.add(static_cast<double>(after.steps - before.steps) /
              static_cast<double>(after.reentered - before.reentered));
  };
  for (int i = 0; i < o.rounds; ++i) {
    const bool first_first = random() % 2 == 0;
    if (first_first) acquire();
    reenter();
    if (!first_first) acquire();
  }
  out.add({.id = "P16",
           .what = "recursive_mutex, steps of the engine per re-entry",
           .afar = steps.max(),
           .goal = {goal_kind::at_most, 0}});
  out.add(compare("P16 time", "re-entries/s, same; first acquires/s of the embedded engine", again,
                  first, {}));
}

}  // namespace bench
