// What is used up. One that finds it so (open, starved, left by somebody) names the next round, and goes
// back to an old one now and then: what is over must stay as it was.
#include "torture/hand.hpp"

#include <afar/barrier.hpp>
#include <afar/counting_semaphore.hpp>
#include <afar/latch.hpp>

#include <thread>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;

class round_tool : public tool {
 public:
  explicit round_tool(std::uint16_t object) : object_(object) {}

 protected:
  std::uint64_t round(hand& me) const {
    const std::uint32_t current = me.at.orders.rounds[object_];
    return current > 0 && me.chance(look_back_) ? current - 1 : current;
  }
  void over(hand& me, std::uint64_t round) const {
    auto expected = static_cast<std::uint32_t>(round);
    me.at.orders.rounds[object_].compare_exchange_strong(expected, expected + 1);
  }
  std::string name(const hand& me, std::uint64_t round) const {
    return me.at.todo.objects[object_].of_round(round);
  }
  void answer(hand& me, std::uint64_t round, bool passed, const std::error_code& ec) const {
    me.note(object_, passed ? fact{.what = act::passed, .token = round}
                            : fact{.what = act::gave_up, .token = round, .value = ec.value()});
    me.be(doing::other);
  }

  const std::uint16_t object_;
  unsigned look_back_ = 0;  // percent
};

class latch_tool final : public round_tool {
 public:
  explicit latch_tool(std::uint16_t object) : round_tool(object) { look_back_ = 10; }
  void take_a_turn(hand& me) override {
    const auto r = round(me);
    latch l{me.at.locks, name(me, r), latch_count};
    const auto n = me.any(10);
    if (n < 4) return count_down(me, l, r);
    if (n < 7) return read(me, l, r);
    wait(me, l, r);
  }

 private:
  void count_down(hand& me, latch& l, std::uint64_t r) const {
    const std::uint32_t n = me.chance(20) ? 2 : 1;
    me.note(object_, {.what = act::changing, .token = r, .weight = n});
    std::error_code ec;
    l.count_down(n, ec);
    me.note(object_, {.what = ec ? act::unknown : act::changed, .token = r, .weight = n});
  }
  void read(hand& me, const latch& l, std::uint64_t r) const {
    me.note(object_, {.what = act::reading, .token = r});
    std::error_code ec;
    const auto left = l.remaining(ec);
    if (ec || !left) return;
    me.note(object_, {.what = act::saw, .token = r, .value = *left});
    if (*left == 0) over(me, r);
  }
  // Some for so long that a latch that opened must have let them pass.
  void wait(hand& me, const latch& l, std::uint64_t r) const {
    const auto time = me.ask(object_, {.token = r}, me.chance(5) ? 5s : me.patience());
    std::error_code ec;
    const bool open = l.wait_for(time, ec);
    answer(me, r, open, ec);
    if (open) over(me, r);
  }
};

class semaphore_tool final : public round_tool {
 public:
  using round_tool::round_tool;
  void take_a_turn(hand& me) override {
    const auto r = round(me);
    counting_semaphore<> some{me.at.locks, name(me, r), permits};
    std::error_code ec;
    if (me.chance(10)) return read(me, some, r);
    const auto time = me.ask(object_, {.token = r}, me.patience());
    const bool taken = some.try_acquire_for(time, ec);
    answer(me, r, taken, ec);
    if (!taken) return over(me, r);  // the dead may have taken all of them along
    me.be(doing::working);
    if (me.chance(10)) std::this_thread::sleep_for(std::chrono::microseconds{me.any(5'000)});
    me.be(doing::releasing);
    me.note(object_, {.what = act::changing, .token = r});
    some.release(1, ec);
    me.note(object_, {.what = ec ? act::unknown : act::changed, .token = r});
    me.be(doing::other);
  }

 private:
  void read(hand& me, const counting_semaphore<>& some, std::uint64_t r) const {
    me.note(object_, {.what = act::reading, .token = r});
    std::error_code ec;
    const auto left = some.available(ec);
    if (!ec) me.note(object_, {.what = act::saw, .token = r, .value = left});
  }
};

class barrier_tool final : public round_tool {
 public:
  using round_tool::round_tool;
  void take_a_turn(hand& me) override {
    const auto r = round(me);
    barrier all{me.at.locks, name(me, r), participants};
    // Long enough for others to come by; few leave early, since that is the end of the round for all.
    const auto time = me.ask(object_, {.token = r}, me.chance(3) ? 20ms : 2'000ms);
    std::error_code ec;
    const bool passed = all.arrive_and_wait_for(time, ec);
    answer(me, r, passed, ec);
    // Who left may have been counted, or not: from here on nobody knows who meets whom.
    if (!passed) over(me, r);
  }
};

}  // namespace

std::unique_ptr<tool> make_round_tool(workplace& at, std::uint16_t object) {
  const sort s = at.todo.objects[object].sort;
  if (s == sort::latch) return std::make_unique<latch_tool>(object);
  if (s == sort::counting_semaphore) return std::make_unique<semaphore_tool>(object);
  if (s == sort::barrier) return std::make_unique<barrier_tool>(object);
  return nullptr;
}

}  // namespace afar::torture
