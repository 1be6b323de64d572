// P1, P2 and the server's share: one thread and a lock on Redis that nobody else wants, beside hiredis
// with the same scripts. Server and client on one core: on two, the wake-ups of the cores decide.
#include "clock.hpp"
#include "contender.hpp"
#include "meter.hpp"
#include "peers.hpp"
#include "place.hpp"
#include "raw_redis.hpp"
#include "redis_host.hpp"
#include "rows.hpp"
#include "tally.hpp"
#include "traced.hpp"
#include "turns.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace bench {

namespace {

using namespace std::chrono_literals;

// One way to do a pair, and what it costs.
struct way {
  way(std::string n, std::string peer, const redis_host& server, std::function<void()> p)
      : name(std::move(n)),
        as_peer(std::move(peer)),
        url(server.url()),
        pair(std::move(p)),
        costs(server, 0) {}

  void join(turns& all) {
    rates = &all.add(costs.watch([this](nanoseconds t) { return rate(t, [&] { pair(); }); }));
  }

  cost summary(const syscall_counter& calls) {
    constexpr int count = 2'000;
    const auto heap = allocations();
    const auto before = calls.count();
    for (int i = 0; i < count; ++i) pair();
    const auto after = calls.count();
    cost c{.group = "P1, P2: Redis, 1 thread, same",
           .who = name,
           .rate = rates->median(),
           .spread = rates->spread(),
           .allocations = static_cast<double>(allocations() - heap) / count};
    if (before && after)
      c.calls = static_cast<double>(*after - *before) / count;
    else if (!as_peer.empty())
      c.calls = traced_calls(afar_as_peer(name, as_peer), url);
    costs.count_commands([this] {
      for (int i = 0; i < count; ++i) pair();
      return static_cast<double>(count);
    });
    return costs.fill(c);
  }

  const std::string name;
  const std::string as_peer;  // see peer_child; empty: it is none
  const std::string url;
  const std::function<void()> pair;
  meter costs;
  const series* rates = nullptr;
};

void tell_costs(const cost& unlocked, report& out) {
  out.add({.id = "P2 heap",
           .what = "Redis, operator new per pair",
           .afar = unlocked.allocations.value_or(0)});
  if (unlocked.calls)
    out.add({.id = "P2 calls",
             .what = "Redis, 1 thread, system calls per pair, unlock()",
             .afar = *unlocked.calls,
             .goal = {goal_kind::at_most, 4}});
  else
    out.skip("P2 calls: neither the kernel's tracing nor strace counts system calls here");
}

}  // namespace

void redis_one_thread(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.first};
  const pinned here{place.first};
  const syscall_counter calls;  // before the client's threads start
  const afar::client client{server.url()};
  afar::mutex awaited{client, "orders/42"};
  afar_pairs pairs{"afar", client, "orders/43"};
  raw_redis connection{server.url()};
  const raw_pair raw = raw_pair::of(connection, "afar", "orders/44");

  way p1{"afar, release awaited", "awaited", server, [&] { awaited.acquire().release(); }};
  way p2{"afar, unlock()", "unlock", server, [&] { pairs.pair(); }};
  way limit{"hiredis, same scripts", "", server, [&] { raw.run(connection); }};
  turns all;
  for (way* w : {&p1, &p2, &limit}) w->join(all);
  all.run(o, 50ms);
  out.add(compare("P1", "Redis, 1 thread, pairs/s, release awaited, same; hiredis, same scripts",
                  *p1.rates, *limit.rates, {goal_kind::at_least, 0.95}));
  out.add(compare("P2", "Redis, 1 thread, pairs/s, unlock(), same; hiredis, same scripts",
                  *p2.rates, *limit.rates, {goal_kind::at_least, 1.35}));
  const cost unlocked = p2.summary(calls);
  tell_costs(unlocked, out);
  out.add(p1.summary(calls));
  out.add(unlocked);
  out.add(limit.summary(calls));
}

void redis_server_cpu(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.first};
  const pinned here{place.first};
  raw_redis connection{server.url()};
  const raw_pair ours = raw_pair::of(connection, "afar", "cpu/afar");
  const raw_pair tokens = raw_pair::of(connection, "redisson", "cpu/redisson");
  const raw_pair java = raw_pair::of_redisson(connection, "cpu/java");
  const raw_pair hash = raw_pair::of_hash(connection, "cpu/hash");

  turns all;
  const auto join = [&](const raw_pair& p) -> const series& {
    return all.add([&](nanoseconds t) {  // microseconds per pair
      std::int64_t pairs = 0;
      const double before = cpu_ns(server.pid());
      rate(t, [&] {
        p.run(connection);
        ++pairs;
      });
      return (cpu_ns(server.pid()) - before) / static_cast<double>(pairs) / 1e3;
    });
  };
  const series& afar = join(ours);
  const series& hash_and_token = join(tokens);
  const series& by_java = join(java);
  const series& bare_hash = join(hash);
  all.run(o, 50ms);
  const auto row = [&](const char* other, const series& theirs, goal g) {
    out.add(compare("server CPU", fmt::format("Redis, server's µs per pair, same; {}", other), afar,
                    theirs, g));
  };
  row("layout=redisson, with token", hash_and_token, {goal_kind::at_most, 1});
  row("what Redisson 4.7 sends, no token", by_java, {goal_kind::at_most, 1});
  row("the hash of Redisson until 3.24, no token", bare_hash, {});  // less than a pair is
}

}  // namespace bench
