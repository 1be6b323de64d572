// One thread of a worker: what it records, and what chance tells it. A tool is one way to use one object.
#pragma once

#include "torture/run_delay.hpp"
#include "torture/workplace.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>

namespace afar::torture {

class hand {
 public:
  hand(workplace& w, std::uint16_t thread)
      : at(w),
        thread_(thread),
        dice_(w.todo.seed ^ (w.worker * 7919ULL + w.life * 104729ULL + thread)) {
    this_thread = thread;
  }

  std::uint32_t any(std::uint64_t below) { return static_cast<std::uint32_t>(dice_() % below); }
  bool chance(unsigned percent) { return any(100) < percent; }
  std::chrono::milliseconds patience() {
    using namespace std::chrono_literals;
    const auto n = any(10);
    return n < 6 ? 200ms : n < 9 ? 1'000ms : 20ms;
  }

  // What a thread was not run is looked up before a call is stamped and after it came back: a pause between
  // the two must not be taken for a part of the call in which the thread ran.
  void note(std::uint16_t object, fact f) const {
    f.object = object;
    f.thread = thread_;
    if (comes_back(f.what)) {
      f.at = now();
      f.delayed = delay_.so_far();
    }
    at.record.note(f);
  }
  // Returns how long to wait.
  std::chrono::milliseconds ask(std::uint16_t object, fact f,
                                std::chrono::milliseconds time) const {
    be(doing::waiting);
    f.what = act::asked;
    f.delayed = delay_.so_far();
    f.at = now();
    f.until = f.at + std::chrono::nanoseconds{time}.count();
    note(object, f);
    return time;
  }
  void be(doing d) const { at.record.head().threads[thread_] = d; }
  void count_grant() const { at.record.head().granted++; }
  std::int64_t next_number() { return ++changes_; }
  std::string order(std::int64_t number) const {
    return order_id(at.worker, at.life, thread_, number);
  }

  workplace& at;

 private:
  const std::uint16_t thread_;
  const run_delay delay_;  // of the thread that makes this
  std::minstd_rand dice_;
  std::int64_t changes_ = 0;
};

class tool {
 public:
  tool() = default;
  tool(const tool&) = delete;
  tool& operator=(const tool&) = delete;
  virtual ~tool() = default;
  virtual void take_a_turn(hand&) = 0;
};

// Null: the sort is not theirs. The first makes locks, the second values, the third what comes in rounds.
std::unique_ptr<tool> make_lock_tool(workplace&, std::uint16_t object);
std::unique_ptr<tool> make_value_tool(workplace&, std::uint16_t object);
std::unique_ptr<tool> make_round_tool(workplace&, std::uint16_t object);

}  // namespace afar::torture
