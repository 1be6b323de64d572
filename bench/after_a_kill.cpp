// P10: from the kill -9 of a holder to the grant of a process that waits. The moment of the kill is
// random, so that a look "every 20 ms" shows itself as what it is.
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <algorithm>
#include <chrono>
#include <list>
#include <random>

namespace bench {

namespace {

using namespace std::chrono_literals;

// Milliseconds.
double kill_one(const std::string& url, const std::string& core, member& waiter,
                std::mt19937& random) {
  member holder{"hold", {url, core, "prey"}};
  holder.hear();
  waiter.ask("wait");
  sleep_for(5ms + std::chrono::microseconds(random() % 30'000));  // it is asleep in lock() by then
  const auto killed = now_ns();
  holder.kill_and_reap();
  return static_cast<double>(std::stoll(waiter.hear()) - killed) / 1e6;
}

}  // namespace

int hold_child(const arguments& a) {
  pin_to(std::stoi(a.at(1)));
  const afar::client client{a.at(0)};
  std::list<afar::mutex> locked;
  for (std::size_t i = 2; i < a.size(); ++i) locked.emplace_back(client, a[i]).lock();
  answer("held");
  for (std::string line; next_line(line);) {
    for (afar::mutex& m : locked) m.unlock();
    answer("released");
  }
  return 0;
}

int wait_child(const arguments& a) {
  pin_to(std::stoi(a.at(1)));
  const afar::client client{a.at(0)};
  afar::mutex m{client, a.at(2)};
  for (std::string line; next_line(line);) {
    answer("waiting");
    m.lock();
    answer(std::to_string(now_ns()));
    m.unlock();
  }
  return 0;
}

void after_a_kill(const options& o, report& out) {
  const scratch folder;
  const cores place = pick_cores();
  member waiter{"wait", {folder.url(), std::to_string(place.first), "prey"}};
  std::mt19937 random{std::random_device{}()};
  series all;
  series rounds;
  const int per_round = std::max(1, (o.kills + o.rounds - 1) / o.rounds);
  for (int i = 0; i < o.rounds; ++i) {
    series round;
    for (int k = 0; k < per_round; ++k) {
      const double ms = kill_one(folder.url(), std::to_string(place.second), waiter, random);
      round.add(ms);
      all.add(ms);
    }
    rounds.add(round.median());
  }
  // A p99 has no spread of its own in one run; that of the rounds' medians tells a disturbed run.
  out.add({.id = "P10",
           .what = "embedded, kill -9 of the holder to the next grant, p99 ms, split",
           .afar = all.quantile(0.99),
           .goal = {goal_kind::at_most, 50},
           .spread = rounds.spread(),
           .note = fmt::format("{} kills; p50 {:.3g}, largest {:.3g}; spread of the rounds' p50",
                               all.size(), all.median(), all.max())});
}

}  // namespace bench
