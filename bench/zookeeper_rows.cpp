// P11 to P13: locks on ZooKeeper beside Curator's InterProcessMutex and beside libzookeeper itself. The
// server has a core, the clients, afar's and Java's, share the other one.
#include "clock.hpp"
#include "crowd.hpp"
#include "interop/peer.hpp"
#include "place.hpp"
#include "raw_keeper.hpp"
#include "rows.hpp"
#include "support/zookeeper_server.hpp"
#include "turns.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <deque>
#include <string>

namespace bench {

namespace {

using afar::test::peer;

afar::test::zookeeper_server start_on(int core) {
  const pinned here{core};  // what is started here stays here
  return afar::test::zookeeper_server{};
}

// Debian's Curator in a program of its own: threads that lock and unlock.
class curator {
 public:
  explicit curator(const std::string& servers)
      : java_({"java", "-XX:+UseSerialGC", "-Xmx256m", "-cp",
               "/usr/share/java/curator-recipes.jar:/usr/share/java/slf4j-nop.jar",
               AFAR_CURATOR_PEER, servers, "30000"}) {}

  const std::string& version() const { return java_.version(); }

  // Until its compiler has seen what matters.
  void warm(std::size_t threads, std::size_t names) {
    run(threads, names, std::chrono::seconds(2));
  }

  // Pairs per second.
  double run(std::size_t threads, std::size_t names, nanoseconds time) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    return std::stod(java_.ask("a", fmt::format("crowd lock /bench {} {} {}", ms, threads, names)));
  }

 private:
  peer java_;
};

struct scene {
  explicit scene(const cores& place) : server(start_on(place.second)), here(place.first) {}

  afar::test::zookeeper_server server;
  pinned here;
  curator java{server.address()};
  afar::client client{server.url()};
};

std::string beside(const scene& s, const char* what) {
  return fmt::format("{}; Curator {} the same", what, s.java.version());
}

}  // namespace

void zookeeper_one_thread(const options& o, report& out) {
  scene s{pick_cores()};
  afar::mutex m{s.client, "one"};
  turns all;
  const series& mine =
      all.add([&](nanoseconds t) { return rate(t, [&] { m.lock(), m.unlock(); }, 1); });
  const series& waited =
      all.add([&](nanoseconds t) { return rate(t, [&] { m.acquire().release(); }, 1); });
  const series& theirs = all.add([&](nanoseconds t) { return s.java.run(1, 1, t); });
  s.java.warm(1, 1);
  all.run(o, std::chrono::milliseconds(50));
  out.add(compare("P11", beside(s, "ZooKeeper, 1 thread, unlock(), pairs/s, split"), mine, theirs,
                  {goal_kind::at_least, 1.4}));
  out.add(compare("P11 awaited", beside(s, "ZooKeeper, 1 thread, hold.release(), pairs/s, split"),
                  waited, theirs, {}));
}

void zookeeper_many_callers(const options& o, report& out) {
  scene s{pick_cores()};
  raw_keeper raw{s.server.address()};
  std::deque<afar::mutex> mutexes;
  for (std::size_t i = 0; i < callers; ++i) mutexes.emplace_back(s.client, fmt::format("m{}", i));
  crowd threads{[&](std::size_t i) { mutexes[i].lock(), mutexes[i].unlock(); }};
  turns all;
  const series& mine = all.add([&](nanoseconds t) { return threads.run(t); });
  const series& limit = all.add([&](nanoseconds t) { return raw.run(t); });
  const series& theirs = all.add([&](nanoseconds t) { return s.java.run(callers, callers, t); });
  s.java.warm(callers, callers);
  all.run(o, std::chrono::milliseconds(100));
  out.add(compare(
      "P12",
      "ZooKeeper, 64 threads, 1 client, 64 names, pairs/s, split; create + delete, 64 in flight",
      mine, limit, {goal_kind::at_least, 0.55}));
  out.add(compare("P12", beside(s, "ZooKeeper, 64 threads, 1 client, 64 names, pairs/s, split"),
                  mine, theirs, {goal_kind::at_least, 1}));
}

void zookeeper_one_lock(const options& o, report& out) {
  scene s{pick_cores()};
  afar::mutex m{s.client, "one"};
  crowd threads{[&](std::size_t) { m.lock(), m.unlock(); }};
  turns all;
  const series& mine = all.add([&](nanoseconds t) { return threads.run(t); });
  const series& theirs = all.add([&](nanoseconds t) { return s.java.run(callers, 1, t); });
  s.java.warm(callers, 1);
  all.run(o, o.per_round());
  out.add(compare("P13", beside(s, "ZooKeeper, 64 threads on 1 lock, grants/s, split"), mine,
                  theirs, {goal_kind::at_least, 8}));
}

}  // namespace bench
