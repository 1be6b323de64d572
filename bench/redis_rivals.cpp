// P4 and P5: processes that want one lock on Redis all the time, beside a hash, a standing
// subscription and a new attempt after every unlock, which is what most libraries do.
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "raw_redis.hpp"
#include "redis_host.hpp"
#include "rows.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct order {
  std::string with;  // afar or retry
  int threads = 1;
  std::int64_t pause = 0;  // nanoseconds between an unlock and the next lock
  std::int64_t start = 0;
  std::int64_t time = 0;

  std::string text() const {
    return fmt::format("{} {} {} {} {}", with, threads, pause, start, time);
  }
  static order of(const std::string& line) {
    std::istringstream in{line};
    order o;
    in >> o.with >> o.threads >> o.pause >> o.start >> o.time;
    return o;
  }
};

struct outcome {
  double grants = 0;
  double wait = 0;  // p50, microseconds
};

// One thread's waits until time is up, in microseconds.
template <class Lock>
std::vector<double> compete(Lock& m, const order& o) {
  std::vector<double> waits;
  sleep_until_ns(o.start);
  for (auto now = now_ns(); now < o.start + o.time;) {
    m.lock();
    waits.push_back(static_cast<double>(now_ns() - now) / 1e3);
    m.unlock();
    if (o.pause > 0) sleep_for(nanoseconds(o.pause));
    now = now_ns();
  }
  return waits;
}

// The others come to an end within a moment of `over`; what is counted ends with it.
template <class Lock>
outcome compete_all(const std::vector<Lock*>& locks, const order& o) {
  std::mutex guard;
  std::vector<double> waits;
  std::vector<std::thread> threads;
  for (Lock* m : locks)
    threads.emplace_back([&, m] {
      const std::vector<double> mine = compete(*m, o);
      const std::scoped_lock lock{guard};
      waits.insert(waits.end(), mine.begin(), mine.end());
    });
  for (std::thread& t : threads) t.join();
  return {static_cast<double>(waits.size()), series{waits}.median()};
}

class company {
 public:
  company(const redis_host& server, int processes, int core) : server_(server) {
    for (int i = 0; i < processes; ++i)
      members_.emplace_back("rival", arguments{server.url(), std::to_string(core)});
  }

  // Of each process, in turn. The orders' start and time are filled in.
  std::vector<outcome> run(std::vector<order> orders, nanoseconds time) {
    const auto start = now_ns() + 30'000'000;  // all have read their order by then
    const auto before = server_.requests();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      orders[i].start = start;
      orders[i].time = time.count();
      members_[i].tell(orders[i].text());
    }
    std::vector<outcome> all;
    for (member& m : members_) {
      std::istringstream in{m.hear()};
      outcome& o = all.emplace_back();
      in >> o.grants >> o.wait;
    }
    requests_ = static_cast<double>(server_.requests() - before);
    return all;
  }
  double requests() const noexcept { return requests_; }  // of the last run

 private:
  const redis_host& server_;
  std::deque<member> members_;
  double requests_ = 0;
};

struct saturation {
  series grants;    // per second
  series requests;  // per grant
  series shares;    // smallest / largest

  void add(company& c, const order& what, nanoseconds time) {
    const auto all = c.run(std::vector<order>(processes, what), time);
    double sum = 0;
    for (const outcome& o : all) sum += o.grants;
    const auto [least, most] =
        std::minmax_element(all.begin(), all.end(),
                            [](const outcome& a, const outcome& b) { return a.grants < b.grants; });
    grants.add(sum * 1e9 / static_cast<double>(time.count()));
    requests.add(c.requests() / std::max(sum, 1.0));
    shares.add(least->grants / std::max(most->grants, 1.0));
  }
  static constexpr int processes = 8;
};

struct both {
  saturation afar;
  saturation retry;
};

both saturate(const options& o, int server_core, int core, int threads) {
  const redis_host server{server_core};
  company together{server, saturation::processes, core};
  std::mt19937 random{std::random_device{}()};
  both all;
  saturation{}.add(together, {"afar", threads}, 50ms);  // warm
  saturation{}.add(together, {"retry", threads}, 50ms);
  for (int i = 0; i < o.rounds; ++i) {
    const bool afar_first = random() % 2 == 0;
    if (afar_first) all.afar.add(together, {"afar", threads}, o.per_round());
    all.retry.add(together, {"retry", threads}, o.per_round());
    if (!afar_first) all.afar.add(together, {"afar", threads}, o.per_round());
  }
  return all;
}

}  // namespace

int rival_child(const arguments& a) {
  pin_to(std::stoi(a.at(1)));
  const afar::client client{a.at(0)};
  afar::mutex m{client, "prize"};
  std::deque<hash_lock> others;
  for (std::string line; next_line(line);) {
    const order o = order::of(line);
    const auto threads = static_cast<std::size_t>(o.threads);
    while (others.size() < threads) others.emplace_back(a.at(0), "prize of retries");
    std::vector<hash_lock*> retry;
    for (std::size_t i = 0; i < threads; ++i) retry.push_back(&others[i]);
    const outcome got = o.with == "afar" ? compete_all(std::vector<afar::mutex*>(threads, &m), o)
                                         : compete_all(retry, o);
    answer(fmt::format("{} {}", got.grants, got.wait));
  }
  return 0;
}

void redis_saturated(const options& o, report& out) {
  const cores place = pick_cores();
  const both same = saturate(o, place.first, place.first, 1);
  out.add(compare("P4", "Redis, 8 processes on 1 lock, grants/s, same; subscription + retry",
                  same.afar.grants, same.retry.grants, {goal_kind::at_least, 1.8}));
  const auto alone = [&](const char* what, const series& ours, const series& theirs, goal g) {
    out.add(
        {.id = "P4",
         .what = fmt::format("Redis, 8 processes on 1 lock, {}, same; subscription + retry", what),
         .afar = ours.median(),
         .limit = theirs.median(),
         .goal = g,
         .spread = ours.spread()});
  };
  alone("requests per grant", same.afar.requests, same.retry.requests, {goal_kind::at_most, 2.2});
  alone("smallest / largest share", same.afar.shares, same.retry.shares,
        {goal_kind::at_least, 0.95});
  const both split = saturate(o, place.second, place.first, 4);
  out.add(
      compare("P4 split",
              "Redis, 8 processes of 4 threads on 1 lock, grants/s, split; subscription + retry",
              split.afar.grants, split.retry.grants, {goal_kind::at_least, 1.3}));
  const both single = saturate(o, place.second, place.first, 1);
  out.add(compare("P4 strict",
                  "Redis, 8 processes of 1 thread on 1 lock, grants/s, split; subscription + retry",
                  single.afar.grants, single.retry.grants, {}));
}

void redis_local_line(const options& o, report& out) {
  const cores place = pick_cores();
  const redis_host server{place.second};
  company two{server, 2, place.first};
  std::mt19937 random{std::random_device{}()};
  series grants[2];
  series waits[2];
  const auto run = [&](std::size_t who, nanoseconds time) {
    const char* with = who == 0 ? "afar" : "retry";
    const auto all = two.run({{with, 8}, {with, 1, 1'000'000}}, time);
    grants[who].add(all[0].grants * 1e9 / static_cast<double>(time.count()));
    waits[who].add(all[1].wait);
  };
  for (const std::size_t who : {0U, 1U}) run(who, 50ms);  // warm
  for (series& s : grants) s = {};
  for (series& s : waits) s = {};
  // The rival asks a thousand times a second and waits for a good part of it: a median needs some of them.
  const nanoseconds time = 4 * o.per_round();
  for (int i = 0; i < o.rounds; ++i) {
    const std::size_t first = random() % 2;
    run(first, time);
    run(1 - first, time);
  }
  out.add(compare("P5",
                  "Redis, 8 threads on 1 lock and a rival process, grants/s of the 8, split; "
                  "subscription + retry",
                  grants[0], grants[1], {goal_kind::at_least, 8}));
  out.add(compare("P5", "Redis, the rival's wait, p50 µs, split; subscription + retry", waits[0],
                  waits[1], {goal_kind::at_most, 1}));
}

}  // namespace bench
