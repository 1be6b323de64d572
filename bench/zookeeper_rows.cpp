// P11 to P13: locks on ZooKeeper beside Curator's InterProcessMutex, kazoo's Lock and libzookeeper itself. The
// server has a core, the clients, afar's and the others', share the other one.
#include "clock.hpp"
#include "counts.hpp"
#include "crowd.hpp"
#include "peers.hpp"
#include "place.hpp"
#include "raw_keeper.hpp"
#include "rows.hpp"
#include "support/zookeeper_server.hpp"
#include "turns.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/hold.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace bench {

namespace {

afar::test::zookeeper_server start_on(int core) {
  const pinned here{core};  // what is started here stays here
  return afar::test::zookeeper_server{};
}

struct scene {
  explicit scene(const cores& place) : server(start_on(place.second)), here(place.first) {}

  afar::test::zookeeper_server server;
  pinned here;
  syscall_counter calls;  // neither the server's nor those of others that are started later
  afar::client client{server.url()};
};

// Curator and kazoo in the same rounds, each in a program of its own.
class rivals {
 public:
  rivals(const scene& s, std::string id, std::size_t workers, std::size_t names, report& out)
      : id_(std::move(id)), out_(out) {
    const auto all = peers_of("zookeeper");
    if (all.empty()) out.skip(id_ + ": Curator and kazoo; script/bench fetches them");
    for (const peer_entry& p : all) {
      if (p.skipped.empty())
        peers_.push_back(
            {p.name, std::make_unique<peer_program>(p, s.server.url(), workers, names)});
      else
        out.skip(fmt::format("{}: {}: {}", id_, p.name, p.skipped));
    }
  }

  // Takes part after its compiler has seen what matters.
  void join(turns& all, const options& o) {
    for (one& p : peers_) {
      p.program->warm(
          std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(2.0, o.seconds) * 1e9)));
      p.rates = &all.add([&p](nanoseconds t) { return p.program->run(t); });
    }
  }

  // The goal is that of Curator; any other is to be passed.
  void tell(const std::string& what, const series& mine, goal against_curator) const {
    for (const one& p : peers_) {
      const bool curator = p.name == "Curator";
      out_.add(compare(curator ? id_ : id_ + " " + p.name,
                       fmt::format("{}; {} the same", what, p.program->title()), mine, *p.rates,
                       curator ? against_curator : goal{goal_kind::at_least, 1}));
    }
  }

 private:
  struct one {
    std::string name;
    std::unique_ptr<peer_program> program;
    const series* rates = nullptr;
  };
  const std::string id_;
  report& out_;
  std::deque<one> peers_;
};

}  // namespace

void zookeeper_one_thread(const options& o, report& out) {
  scene s{pick_cores()};
  afar::mutex m{s.client, "one"};
  tell_counts({"P11", "ZooKeeper, 1 thread, unlock()", s.server.url(), "unlock",
               [&] { m.lock(), m.unlock(); }},
              s.calls, out);
  rivals others{s, "P11", 1, 1, out};
  turns all;
  const series& mine =
      all.add([&](nanoseconds t) { return rate(t, [&] { m.lock(), m.unlock(); }, 1); });
  const series& waited =
      all.add([&](nanoseconds t) { return rate(t, [&] { m.acquire().release(); }, 1); });
  others.join(all, o);
  all.run(o, std::chrono::milliseconds(50));
  others.tell("ZooKeeper, 1 thread, unlock(), pairs/s, split", mine, {goal_kind::at_least, 1.4});
  others.tell("ZooKeeper, 1 thread, hold.release(), pairs/s, split", waited, {});
}

void zookeeper_many_callers(const options& o, report& out) {
  scene s{pick_cores()};
  rivals others{s, "P12", callers, callers, out};
  raw_keeper raw{s.server.address()};
  std::deque<afar::mutex> mutexes;
  for (std::size_t i = 0; i < callers; ++i) mutexes.emplace_back(s.client, fmt::format("m{}", i));
  crowd threads{[&](std::size_t i) { mutexes[i].lock(), mutexes[i].unlock(); }};
  turns all;
  const series& mine = all.add([&](nanoseconds t) { return threads.run(t); });
  const series& limit = all.add([&](nanoseconds t) { return raw.run(t); });
  others.join(all, o);
  all.run(o, std::chrono::milliseconds(100));
  out.add(compare(
      "P12",
      "ZooKeeper, 64 threads, 1 client, 64 names, pairs/s, split; create + delete, 64 in flight",
      mine, limit, {goal_kind::at_least, 0.55}));
  others.tell("ZooKeeper, 64 threads, 1 client, 64 names, pairs/s, split", mine,
              {goal_kind::at_least, 1});
}

void zookeeper_one_lock(const options& o, report& out) {
  scene s{pick_cores()};
  rivals others{s, "P13", callers, 1, out};
  afar::mutex m{s.client, "one"};
  crowd threads{[&](std::size_t) { m.lock(), m.unlock(); }};
  turns all;
  const series& mine = all.add([&](nanoseconds t) { return threads.run(t); });
  others.join(all, o);
  all.run(o, o.per_round());
  others.tell("ZooKeeper, 64 threads on 1 lock, grants/s, split", mine, {goal_kind::at_least, 8});
}

}  // namespace bench
