// P17: afar beside what people would use instead on Redis, each in a process of its own. What is compared is measured side
// by side, in slices of a tenth of a second: a virtual machine may be twice as fast a second later.
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
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr int slices = 7;  // of a round

// What a worker of a peer is. A goroutine and a promise hold no thread of the system: of afar's workers, a coroutine is like them.
struct worker_kind {
  std::string_view peer;
  const char* workers;
  bool light;
  bool documented = true;  // set up as its documentation has it, so that it counts
};
constexpr worker_kind kinds[] = {
    {"Redisson", "threads", false},
    {"redis-py", "threads", false},
    {"redsync", "goroutines", true},
    {"rueidislock", "goroutines", true},
    {"node-redlock", "promises", true},
    {"redis-semaphore", "promises", true},
    {"redis-semaphore on 2 connections", "promises", true, false},
};

const worker_kind& kind_of(const std::string& peer) {
  const auto* const found = std::ranges::find(kinds, peer, &worker_kind::peer);
  return found == std::end(kinds) ? kinds[0] : *found;
}

struct contestant {
  contestant(peer_entry e, const redis_host& server, std::size_t workers)
      : kind(kind_of(e.name)),
        program(std::move(e), server.url(), workers, workers),
        costs(server, program.pid()),
        metered(costs.watch([this](nanoseconds t) { return program.run(t); })) {}

  // Others have had the machine meanwhile.
  double run(nanoseconds t) {
    program.measure(20ms);
    return metered(t);
  }

  const worker_kind& kind;
  peer_program program;
  meter costs;
  turns::contender metered;
  series rates;
};

// A peer, and afar in the slices beside it; of each round the median.
struct bout {
  contestant* peer;
  series threads = {};
  series coroutines = {};
  series own = {};
};

// The work, the unit and the placement of all of them.
struct setting {
  std::size_t workers;
  const char* text;
};

struct field {
  std::deque<contestant> all;
  contestant* threads = nullptr;
  contestant* coroutines = nullptr;
  std::deque<bout> bouts = {};
};

// Virtual machines need seconds until their compilers have seen what matters.
nanoseconds warm_time(const options& o) {
  return std::min<nanoseconds>(
      2s, std::chrono::nanoseconds(static_cast<std::int64_t>(o.seconds * 1e9)));
}

// In it stays who could be started and does not fail.
void start_all(const options& o, const redis_host& server, const setting& how, field& in,
               report& out) {
  std::vector<peer_entry> wanted{afar_as_peer("afar", "unlock"),
                                 afar_as_peer("afar, coroutines", "coroutines"),
                                 afar_as_peer("afar, awaited", "awaited")};
  const auto others = peers_of("redis");
  wanted.insert(wanted.end(), others.begin(), others.end());
  if (others.empty()) out.skip("P17: the peers; script/bench fetches them");
  for (peer_entry& e : wanted) {
    const std::string name = e.name;
    if (how.workers == 1 && !kind_of(name).documented) continue;
    if (!e.skipped.empty()) {
      out.skip(fmt::format("P17, {}: {}: {}", how.text, name, e.skipped));
      continue;
    }
    const auto before = in.all.size();
    try {
      in.all.emplace_back(std::move(e), server, how.workers).program.warm(warm_time(o));
    } catch (const std::exception& problem) {
      if (name.starts_with("afar")) throw;  // there is nothing to compare
      out.skip(fmt::format("P17, {}: {} failed: {}", how.text, name, problem.what()));
      if (in.all.size() > before) in.all.pop_back();
    }
  }
  in.threads = &in.all[0];
  in.coroutines = &in.all[1];
  for (std::size_t i = 3; i < in.all.size(); ++i) in.bouts.push_back({&in.all[i]});
}

// The medians of a round, in the order of `who`.
std::vector<double> side_by_side(const std::vector<contestant*>& who, nanoseconds slice,
                                 std::mt19937& random) {
  std::vector<series> parts(who.size());
  std::vector<std::size_t> order(who.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int n = 0; n < slices; ++n) {
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) parts[i].add(who[i]->run(slice));
  }
  std::vector<double> medians;
  for (std::size_t i = 0; i < who.size(); ++i) {
    medians.push_back(parts[i].median());
    who[i]->rates.add(medians.back());
  }
  return medians;
}

void fight(const options& o, field& in) {
  std::mt19937 random{std::random_device{}()};
  const nanoseconds slice = o.per_round() / 3;
  std::vector<bout*> order;
  for (bout& b : in.bouts) order.push_back(&b);
  for (int i = 0; i < o.rounds; ++i) {
    side_by_side({in.threads, in.coroutines, &in.all[2]}, slice, random);
    std::ranges::shuffle(order, random);
    for (bout* b : order) {
      const auto medians = side_by_side({in.threads, in.coroutines, b->peer}, slice, random);
      b->threads.add(medians[0]);
      b->coroutines.add(medians[1]);
      b->own.add(medians[2]);
    }
  }
}

// The best of those that count and fit; null: there is none.
template <class Fits>
const bout* best_of(const field& in, Fits fits) {
  const bout* best = nullptr;
  for (const bout& b : in.bouts)
    if (b.peer->kind.documented && fits(b.peer->kind) &&
        (!best || b.own.median() > best->own.median()))
      best = &b;
  return best;
}

void tell_best(const setting& how, const field& in, report& out) {
  const auto tell = [&](const char* id, const char* workers, const char* among, const bout* b,
                        const series bout::* afar) {
    if (b)
      out.add(compare(id,
                      fmt::format("{}, pairs/s; afar's {}, the best {}: {}", how.text, workers,
                                  among, b->peer->program.title()),
                      b->*afar, b->own, {goal_kind::at_least, 1.5}));
  };
  tell("P17 best", "threads", "of all", best_of(in, [](const worker_kind&) { return true; }),
       &bout::threads);
  tell("P17 best threads", "threads", "of those with threads",
       best_of(in, [](const worker_kind& k) { return !k.light; }), &bout::threads);
  tell("P17 best tasks", "coroutines", "of those with goroutines or promises",
       best_of(in, [](const worker_kind& k) { return k.light; }), &bout::coroutines);
}

void tell(const setting& how, const field& in, report& out) {
  for (const contestant& c : in.all)
    out.add(c.costs.fill({.group = fmt::format("P17: {}", how.text),
                          .who = c.program.title(),
                          .rate = c.rates.median(),
                          .spread = c.rates.spread(),
                          .p50 = c.program.p50().median(),
                          .p99 = c.program.p99().median()}));
  for (const bout& b : in.bouts) {
    const goal ahead = b.peer->kind.documented ? goal{goal_kind::at_least, 1} : goal{};
    const auto row = [&](const char* id, const char* workers, const series& afar) {
      out.add(compare(id,
                      fmt::format("{}, pairs/s; afar's {}, {} with {}", how.text, workers,
                                  b.peer->program.title(), b.peer->kind.workers),
                      afar, b.own, ahead));
    };
    row("P17", "threads", b.threads);
    if (how.workers > 1 && b.peer->kind.light) row("P17 tasks", "coroutines", b.coroutines);
  }
  if (how.workers > 1) tell_best(how, in, out);
}

void run(const options& o, const redis_host& server, const setting& how, report& out) {
  field in;
  start_all(o, server, how, in, out);
  fight(o, in);
  for (contestant& c : in.all)
    c.costs.count_commands([&c] { return c.program.measure(20ms).pairs; });
  tell(how, in, out);
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
