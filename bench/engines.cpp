// engines: the same work on every engine, in turns, for docs/choosing.md. No goals: they differ in what
// they promise.
#include "clock.hpp"
#include "rows.hpp"
#include "scratch.hpp"
#include "series.hpp"
#include "turns.hpp"
#include "two_clients.hpp"

#include "support/redis_server.hpp"
#include "support/zookeeper_server.hpp"
#ifdef AFAR_WITH_SQL
#include "support/sql_server.hpp"
#endif

#include <afar/afar.hpp>

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <system_error>

namespace bench {
namespace {

using namespace std::chrono_literals;

struct place {
  place(std::string n, std::string u)
      : name(std::move(n)),
        url(std::move(u)),
        client(url),
        lock(client, "engines/lock"),
        goods(client, "engines/goods") {
    goods.set(1'000'000'000);
  }
  ~place() {
    std::error_code ignored;
    goods.erase(ignored);
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  void pair() {
    afar::hold held = lock.acquire();
    held.release();
  }
  void take() { goods.take(1, std::to_string(++orders)); }

  const std::string name;
  const std::string url;
  const afar::client client;
  afar::mutex lock;
  afar::stock goods;
  std::uint64_t orders = 0;
};

void add(report& out, const place& p, const char* what, const series& s) {
  out.add(
      {.id = "engines", .what = p.name + ", " + what, .afar = s.median(), .spread = s.spread()});
}

}  // namespace

void engines(const options& o, report& out) {
  ::setenv("TMPDIR", "/dev/shm", 0);  // see sql_alone.cpp
  const scratch folder;
  const afar::test::redis_server redis;
  const afar::test::zookeeper_server ensemble{3};
#ifdef AFAR_WITH_SQL
  using afar::test::database;
  const afar::test::sql_server maria{database::mariadb, {"--innodb-flush-log-at-trx-commit=1"}};
  const afar::test::sql_server postgres{database::postgresql, {"-c", "fsync=on"}};
#endif
  std::deque<place> all;  // goes before the servers do
  all.emplace_back("embedded", "file://" + folder.path() + "/engine");
  all.emplace_back("Redis", redis.url());
  all.emplace_back("ZooKeeper", ensemble.url());
#ifdef AFAR_WITH_SQL
  all.emplace_back("MariaDB", maria.url());
  all.emplace_back("PostgreSQL", postgres.url());
#endif

  turns pairs;
  turns takes;
  std::deque<const series*> paired;
  std::deque<const series*> taken;
  for (place& p : all) {
    paired.push_back(&pairs.add([&](nanoseconds t) { return rate(t, [&] { p.pair(); }, 2); }));
    taken.push_back(&takes.add([&](nanoseconds t) { return rate(t, [&] { p.take(); }, 2); }));
  }
  pairs.run(o, 50ms);
  takes.run(o, 50ms);
  std::deque<series> handed(all.size());
  for (int i = 0; i < o.rounds; ++i)
    for (std::size_t k = 0; k < all.size(); ++k) handed[k].add(client_hand_off(all[k].url, 20));
  for (std::size_t k = 0; k < all.size(); ++k) {
    add(out, all[k], "lock and unlock, 1 thread, pairs/s", *paired[k]);
    add(out, all[k], "take from a stock, 1 thread, orders/s", *taken[k]);
    add(out, all[k], "hand-off between two clients, p50 ms", handed[k]);
  }
}

}  // namespace bench
