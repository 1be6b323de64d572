// P8: what one thread of one process pays for a lock that nobody else wants, beside what the same
// machine's primitives cost. All on one core, in slices of 50 ms that take turns.
#include "clock.hpp"
#include "contender.hpp"
#include "counts.hpp"
#include "place.hpp"
#include "rows.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct entry {
  std::unique_ptr<contender> who;
  series rounds = {};  // pairs/s
  series slices = {};  // of this round
};

void run_round(std::vector<entry>& all, nanoseconds time, std::mt19937& random) {
  constexpr nanoseconds slice = 50ms;
  for (nanoseconds used = 0ns; used < time; used += slice) {
    std::shuffle(all.begin(), all.end(), random);
    for (entry& e : all) e.slices.add(rate(std::min(slice, time), [&] { e.who->pair(); }));
  }
  for (entry& e : all) {
    e.rounds.add(e.slices.median());
    e.slices = {};
  }
}

const entry& find(const std::vector<entry>& all, const contender* who) {
  return *std::find_if(all.begin(), all.end(), [&](const entry& e) { return e.who.get() == who; });
}

}  // namespace

void uncontended(const options& o, report& out) {
  const scratch folder;
  const pinned here{pick_cores().first};
  const syscall_counter calls;  // before the clients' threads start
  const afar::client embedded{folder.url()};
  const afar::client memory{"memory:"};

  std::vector<entry> all;
  const auto join = [&](std::unique_ptr<contender> who) {
    all.push_back({.who = std::move(who)});
    return all.back().who.get();
  };
  contender* const ours = join(std::make_unique<afar_pairs>("afar", embedded, "orders/42"));
  const contender* const core = join(std::make_unique<afar_pairs>("memory:", memory, "orders/42"));
  const contender* const lmdb = join(lmdb_pairs(folder));
  const contender* const flock = join(flock_pairs(folder));
  const contender* const ofd = join(ofd_pairs(folder));
  const contender* const sqlite = join(sqlite_pairs(folder));

  std::mt19937 random{std::random_device{}()};
  for (entry& e : all) rate(20ms, [&] { e.who->pair(); });  // warm
  for (int i = 0; i < o.rounds; ++i) run_round(all, o.per_round(), random);

  const series& afar = find(all, ours).rounds;
  const auto against = [&](const std::string& id, const contender* who, goal g) {
    out.add(compare(id, "embedded, 1 process, pairs/s, same; " + who->name(), afar,
                    find(all, who).rounds, g));
  };
  against("P8", lmdb, {goal_kind::at_least, 0.5});
  against("P8", flock, {goal_kind::at_least, 0.8});
  against("P8 ofd", ofd, {});
  against("P8 sqlite", sqlite, {});
  against("P8 core", core, {});
  tell_counts({"P8", "embedded, 1 process", folder.url(), "unlock", [&] { ours->pair(); }}, calls,
              out);
}

}  // namespace bench
