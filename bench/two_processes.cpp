// P8a: two processes on two names, each on its own core, against one of them alone. The names are
// random in every round: some pairs share a shard and get in each other's way, as users' names do.
#include "clock.hpp"
#include "crew.hpp"
#include "place.hpp"
#include "rows.hpp"
#include "scratch.hpp"

#include <fmt/format.h>
#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <chrono>
#include <random>
#include <sstream>

namespace bench {

namespace {

using namespace std::chrono_literals;

std::string order(const std::string& name, std::int64_t start, nanoseconds time) {
  return fmt::format("{} {} {}", name, start, time.count());
}

double alone(member& who, const std::string& name, nanoseconds time) {
  return std::stod(who.ask(order(name, now_ns() + 2'000'000, time)));
}

double together(member& a, const std::string& x, member& b, const std::string& y,
                nanoseconds time) {
  const auto start = now_ns() + 5'000'000;  // both have read their order by then
  a.tell(order(x, start, time));
  b.tell(order(y, start, time));
  return std::stod(a.hear()) + std::stod(b.hear());
}

}  // namespace

int pairs_child(const arguments& a) {
  pin_to(std::stoi(a.at(1)));
  const afar::client client{a.at(0)};
  for (std::string line; next_line(line);) {
    std::istringstream in{line};
    std::string name;
    std::int64_t start = 0;
    std::int64_t time = 0;
    in >> name >> start >> time;
    afar::mutex m{client, name};
    const auto pair = [&] {
      m.lock();
      m.unlock();
    };
    pair();  // the first one of a name makes its record
    sleep_until_ns(start);
    answer(fmt::format("{:.1f}", rate(nanoseconds(time), pair)));
  }
  return 0;
}

void two_processes(const options& o, report& out) {
  const scratch folder;
  const cores place = pick_cores();
  member a{"pairs", {folder.url(), std::to_string(place.first)}};
  member b{"pairs", {folder.url(), std::to_string(place.second)}};
  std::mt19937_64 random{std::random_device{}()};
  series one;
  series two;
  alone(a, "warm/a", 20ms);
  alone(b, "warm/b", 20ms);
  for (int i = 0; i < o.rounds; ++i) {
    const std::string x = fmt::format("job/{:x}", random());
    const std::string y = fmt::format("job/{:x}", random());
    const nanoseconds half = o.per_round() / 2;
    // One process: the mean of either core, since the cores need not be equally free.
    const auto single = [&] { one.add((alone(a, x, half) + alone(b, y, half)) / 2); };
    const bool single_first = random() % 2 == 0;
    if (single_first) single();
    two.add(together(a, x, b, y, o.per_round()));
    if (!single_first) single();
  }
  out.add(compare("P8a", "embedded, 2 processes on 2 random names, pairs/s, split; 1 process", two,
                  one, {goal_kind::at_least, 1.5}));
}

}  // namespace bench
