// P17: afar beside what people would use instead on Redis, each in a process of its own, all in the same rounds.
#include "clock.hpp"
#include "crowd.hpp"
#include "meter.hpp"
#include "peers.hpp"
#include "place.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <string>
#include <utility>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct contestant {
  contestant(peer_entry e, const redis_host& server, std::size_t workers)
      : program(std::move(e), server.url(), workers, workers), costs(server, program.pid()) {}

  peer_program program;
  meter costs;
  const series* rates = nullptr;
};

// The work, the unit and the placement of all of them.
struct setting {
  std::size_t workers;
  const char* text;
};

// Virtual machines need seconds until their compilers have seen what matters.
nanoseconds warm_time(const options& o) {
  return std::min<nanoseconds>(
      2s, std::chrono::nanoseconds(static_cast<std::int64_t>(o.seconds * 1e9)));
}

// In it stays who could be started and does not fail.
std::deque<contestant> start_all(const options& o, const redis_host& server, const setting& how,
                                 report& out) {
  std::vector<peer_entry> wanted{afar_as_peer("afar", "unlock"),
                                 afar_as_peer("afar, awaited", "awaited"),
                                 afar_as_peer("afar, coroutines", "coroutines")};
  const auto others = peers_of("redis");
  wanted.insert(wanted.end(), others.begin(), others.end());
  if (others.empty()) out.skip("P17: the peers; script/bench fetches them");
  std::deque<contestant> all;
  for (peer_entry& e : wanted) {
    const std::string name = e.name;
    if (!e.skipped.empty()) {
      out.skip(fmt::format("P17, {}: {}: {}", how.text, name, e.skipped));
      continue;
    }
    try {
      all.emplace_back(std::move(e), server, how.workers).program.warm(warm_time(o));
    } catch (const std::exception& problem) {
      if (name.starts_with("afar")) throw;  // there is nothing to compare
      out.skip(fmt::format("P17, {}: {} failed: {}", how.text, name, problem.what()));
      all.pop_back();
    }
  }
  return all;
}

void tell(const setting& how, const std::deque<contestant>& all, report& out) {
  const series& afar = *all.front().rates;
  const contestant* best = nullptr;
  for (const contestant& c : all) {
    const std::string title = c.program.title();
    out.add(c.costs.fill({.group = fmt::format("P17: {}", how.text),
                          .who = title,
                          .rate = c.rates->median(),
                          .spread = c.rates->spread(),
                          .p50 = c.program.p50().median(),
                          .p99 = c.program.p99().median()}));
    if (title.starts_with("afar")) continue;
    out.add(compare("P17", fmt::format("{}, pairs/s; {}", how.text, title), afar, *c.rates,
                    {goal_kind::at_least, 1}));
    if (!best || c.rates->median() > best->rates->median()) best = &c;
  }
  if (best && how.workers > 1)
    out.add(compare("P17 best",
                    fmt::format("{}, pairs/s; the best, {}", how.text, best->program.title()), afar,
                    *best->rates, {goal_kind::at_least, 1.5}));
}

void run(const options& o, const redis_host& server, const setting& how, report& out) {
  std::deque<contestant> all = start_all(o, server, how, out);
  turns rounds;
  for (contestant& c : all)
    c.rates = &rounds.add(c.costs.watch([&c](nanoseconds t) { return c.program.run(t); }));
  rounds.run(o, o.per_round());
  for (contestant& c : all) c.costs.count_commands([&c] { return c.program.measure(20ms).pairs; });
  tell(how, all, out);
}

}  // namespace

void redis_peers(const options& o, report& out) {
  const cores place = pick_cores();
  {
    const redis_host server{place.first};
    const pinned here{place.first};
    run(o, server, {1, "Redis, 1 worker, same"}, out);
  }
  const redis_host server{place.second};
  const pinned here{place.first};
  run(o, server, {callers, "Redis, 64 workers on 64 names, split"}, out);
}

}  // namespace bench
