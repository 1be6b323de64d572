// Contenders that are measured in turns, in a new order each time, so that what disturbs the machine
// for a while disturbs all of them.
#pragma once

#include "options.hpp"
#include "series.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace bench {

class turns {
 public:
  using contender = std::function<double(std::chrono::nanoseconds)>;  // measures for so long

  // The rounds' medians, filled in by run; good as long as this object is.
  const series& add(contender c) {
    all_.push_back({.measure = std::move(c)});
    return all_.back().rounds;
  }

  // Cuts every round into slices.
  void run(const options& o, std::chrono::nanoseconds slice) {
    std::vector<entry*> order;
    for (entry& e : all_) order.push_back(&e);
    for (entry* e : order) e->measure(std::chrono::milliseconds(20));  // warm
    for (int i = 0; i < o.rounds; ++i) run_round(order, o.per_round(), slice);
  }

 private:
  struct entry {
    contender measure;
    series rounds = {};
    series slices = {};  // of this round
  };

  void run_round(std::vector<entry*>& order, std::chrono::nanoseconds time,
                 std::chrono::nanoseconds slice) {
    for (std::chrono::nanoseconds used{0}; used < time; used += slice) {
      std::shuffle(order.begin(), order.end(), random_);
      for (entry* e : order) e->slices.add(e->measure(std::min(slice, time)));
    }
    for (entry* e : order) e->rounds.add(std::exchange(e->slices, {}).median());
  }

  std::deque<entry> all_;
  std::mt19937 random_{std::random_device{}()};
};

}  // namespace bench
