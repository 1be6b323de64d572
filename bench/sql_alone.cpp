// P14, P15: a lock in a database that nobody else wants, beside the same two statements, prepared, on
// the client library alone; and how fast it is handed on, beside the database's own notice.
#include "clock.hpp"
#include "contender.hpp"
#include "counts.hpp"
#include "place.hpp"
#include "raw_sql.hpp"
#include "rows.hpp"
#include "series.hpp"
#include "turns.hpp"
#include "two_clients.hpp"

#include "support/sql_server.hpp"

#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using afar::test::database;
using afar::test::sql_server;

constexpr int crowd = 16;

// Commits as a careful owner of data would have them.
std::vector<std::string> durable(database d) {
  if (d == database::mariadb)
    return {"--innodb-flush-log-at-trx-commit=1", "--innodb-log-file-buffering=OFF"};
  return {"-c", "fsync=on"};
}

std::unique_ptr<raw_sql> raw_on(const sql_server& s, const std::string& name) {
  return s.what() == database::mariadb ? raw_mysql(s.port(), name) : raw_postgres(s.port(), name);
}

// Both steps awaited, as the raw ones are.
class awaited_pairs {
 public:
  awaited_pairs(const afar::client& c, const std::string& name) : mutex_(c, name) {}
  void pair() {
    afar::hold held = mutex_.acquire();
    if (held.token() <= last_) throw std::runtime_error{"a token is not larger than the last one"};
    last_ = held.token();
    held.release();
  }

 private:
  afar::mutex mutex_;
  std::uint64_t last_ = 0;
};

// All of them at once; their rates together.
template <class Each>
double together(nanoseconds time, std::vector<Each>& all) {
  std::atomic<double> sum{0};
  std::vector<std::jthread> threads;
  for (auto& one : all)
    threads.emplace_back([&] {
      const double mine = rate(time, [&] { one->pair(); }, 2);
      double seen = sum.load();
      while (!sum.compare_exchange_weak(seen, seen + mine)) {
      }
    });
  threads.clear();
  return sum;
}

// One caller shares a core with the server; many are on the other one.
void pairs(const options& o, const std::string& id, const std::string& what, goal alone,
           goal crowded, const sql_server& s, report& out) {
  const cores on = pick_cores();
  {
    const pinned here{on.first};
    const afar::client client{s.url()};
    awaited_pairs ours{client, "alone/afar"};
    afar_pairs unlocked{"afar", client, "alone/unlock"};
    const auto raw = raw_on(s, "alone/raw");
    turns one;
    const series& a = one.add([&](nanoseconds t) { return rate(t, [&] { ours.pair(); }, 2); });
    const series& u = one.add([&](nanoseconds t) { return rate(t, [&] { unlocked.pair(); }, 2); });
    const series& r = one.add([&](nanoseconds t) { return rate(t, [&] { raw->pair(); }, 2); });
    one.run(o, 50ms);
    out.add(
        compare(id, what + ", 1 connection, same, pairs/s; the same statements, raw", a, r, alone));
    out.add(compare(id, what + ", the same with unlock(), which does not wait", u, r, {}));
  }
  const pinned there{on.second};
  std::vector<std::unique_ptr<afar::client>> clients;
  std::vector<std::unique_ptr<awaited_pairs>> many;
  std::vector<std::unique_ptr<raw_sql>> raw_many;
  for (int i = 0; i < crowd; ++i) {
    clients.push_back(std::make_unique<afar::client>(s.url() + "?connections=1"));
    many.push_back(
        std::make_unique<awaited_pairs>(*clients.back(), fmt::format("many/afar/{}", i)));
    raw_many.push_back(raw_on(s, fmt::format("many/raw/{}", i)));
  }
  turns all;
  const series& a16 = all.add([&](nanoseconds t) { return together(t, many); });
  const series& r16 = all.add([&](nanoseconds t) { return together(t, raw_many); });
  all.run(o, 100ms);
  out.add(compare(id, what + ", 16 connections, split, pairs/s; the same statements, raw", a16, r16,
                  crowded));
}

// On a disk it would be the same, and take long.
void counts(const std::string& id, const std::string& what, const sql_server& s, report& out) {
  const pinned here{pick_cores().first};
  const syscall_counter calls;  // before the client's threads start
  const afar::client client{s.url()};
  afar_pairs unlocked{"afar", client, "counted/unlock"};
  tell_counts({id, what + ", 1 connection, unlock()", s.url(), "unlock", [&] { unlocked.pair(); }},
              calls, out);
}

// As client_hand_off, with the row and PostgreSQL's notice alone.
double raw_hand_off(const sql_server& s, int count) {
  const auto from = raw_on(s, "hand-off/raw");
  const auto to = raw_on(s, "hand-off/raw");
  to->listen();
  series all;
  for (int i = 0; i < count; ++i) {
    from->take();
    std::int64_t got = 0;
    std::jthread waits{[&] {
      to->await_notice();
      to->take();
      got = now_ns();
      to->give();
    }};
    sleep_for(5ms);
    const std::int64_t start = now_ns();
    from->give();
    from->notify();
    waits.join();
    all.add(static_cast<double>(got - start) / 1e6);
  }
  return all.median();
}

void handed_on(const options& o, const std::string& id, const std::string& what,
               const sql_server& s, report& out) {
  constexpr int count = 20;
  series bell;
  series poll;
  series raw;
  for (int i = 0; i < o.rounds; ++i) {
    bell.add(client_hand_off(s.url(), count));
    poll.add(client_hand_off(s.url() + "?bell=off", count));
    if (s.what() == database::postgresql) raw.add(raw_hand_off(s, count));
  }
  out.add(compare(id, what + ", hand-off p50 ms; the same without a bell", bell, poll,
                  {goal_kind::at_most, 0.1}));
  if (s.what() == database::postgresql)
    out.add(compare(id, what + ", hand-off p50 ms; raw LISTEN/NOTIFY", bell, raw,
                    {goal_kind::at_most, 1.5}));
}

// Commits are flushed in both. On a disk they are what a lock in a database costs, and what the goals are
// about; in memory afar's own part shows.
enum class storage : std::uint8_t { disk, memory };

std::unique_ptr<sql_server> start_server(database what, storage on) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  if (on == storage::memory) ::setenv("TMPDIR", "/dev/shm", 1);
  const pinned here{pick_cores().first};
  auto server = std::make_unique<sql_server>(what, durable(what));
  if (on == storage::memory && before) ::setenv("TMPDIR", kept.c_str(), 1);
  if (on == storage::memory && !before) ::unsetenv("TMPDIR");
  return server;
}

// How a waiter is woken does not depend on the disk either.
void measure(const options& o, const std::string& id, const std::string& name, database what,
             report& out) {
  pairs(o, id, name + " on a disk", {goal_kind::at_least, 0.90},
        {goal_kind::at_least, id == "P14" ? 0.85 : 0.90}, *start_server(what, storage::disk), out);
  const auto fast = start_server(what, storage::memory);
  pairs(o, id, name + " in memory", {}, {}, *fast, out);
  counts(id, name + " in memory", *fast, out);
  handed_on(o, id, name + " in memory", *fast, out);
}

}  // namespace

void mysql_alone(const options& o, report& out) {
  measure(o, "P14", "MariaDB", database::mariadb, out);
}

void postgres_alone(const options& o, report& out) {
  measure(o, "P15", "PostgreSQL", database::postgresql, out);
}

}  // namespace bench
