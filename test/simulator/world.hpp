// Virtual time, and everything that happens in it, in one order that a seed decides. Machines stand for
// processes: each has a boot clock of its own, can stand still, and can die.
//
// The library's own object files run in it. What they need of the system is replaced when the test is
// linked (substitutes.cpp): the clock, random numbers, timers, the notifier's threads, the parker.
#pragma once

#include <afar/boot_clock.hpp>
#include <afar/detail/function.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace afar::test {

using namespace std::chrono_literals;
using nanoseconds = std::chrono::nanoseconds;

class world {
 public:
  using time = nanoseconds;  // since the world began; nobody in it can see it
  using id = std::uint64_t;
  using machine = std::size_t;
  static constexpr machine nowhere = static_cast<machine>(-1);  // the server, the network, fate

  enum class record : std::uint8_t { digest, text };

  world(std::uint64_t seed, record);
  world(const world&) = delete;
  world& operator=(const world&) = delete;
  ~world();

  static world& current();         // the one that runs; there is one at a time
  static bool running() noexcept;  // false: the real clock counts

  // ---- dice
  std::uint64_t draw() noexcept;
  std::uint64_t below(std::uint64_t n) noexcept { return draw() % n; }
  bool chance(unsigned of_1000) noexcept { return below(1'000) < of_1000; }
  nanoseconds between(nanoseconds least, nanoseconds most) noexcept {
    return least + nanoseconds{static_cast<std::int64_t>(
                       below(static_cast<std::uint64_t>((most - least).count()) + 1))};
  }

  // ---- events
  id at(time, machine, detail::function<void()>);
  id after(nanoseconds d, machine m, detail::function<void()> f) {
    return at(now_ + d, m, std::move(f));
  }
  bool cancel(id) noexcept;
  bool step();  // false: nothing is to happen any more
  void after_each(detail::function<void()> f) { after_each_ = std::move(f); }
  // What happens until then, or until it is enough; from inside of an event, too.
  template <class Enough>
  void run_until(time t, Enough enough) {
    ++depth_;
    while (!enough() && !events_.empty() && events_.begin()->first.at <= t) step();
    --depth_;
    if (!enough()) now_ = std::max(now_, t);
  }
  void forget_events();                                // of everybody
  bool inside() const noexcept { return depth_ > 1; }  // a blocked call waits further up

  // The thread that acts sleeps, by the clock of its machine, and goes on when that does.
  template <class Enough>
  void sleep_until(boot_clock::time_point t, Enough enough) {
    run_until(when(acting_, t), enough);
    while (paused(acting_)) run_until(resumed(acting_), [] { return false; });
  }

  // ---- machines
  machine add_machine();
  void pause(machine m, nanoseconds d);
  // Nothing of it happens any more. Returns what was to happen.
  std::vector<detail::function<void()>> kill(machine);
  bool alive(machine m) const { return m == nowhere || !machines_[m].dead; }
  bool paused(machine m) const { return m != nowhere && machines_[m].paused_until > now_; }
  time resumed(machine m) const { return machines_[m].paused_until; }  // last, or will be
  boot_clock::time_point clock(machine) const;
  time when(machine, boot_clock::time_point) const;  // its clock shows at least that

  // Runs `f` as something that this machine does.
  template <class F>
  decltype(auto) as(machine m, F&& f) {
    const here there{*this, m};
    return std::forward<F>(f)();
  }
  machine acting() const noexcept { return acting_; }
  time now() const noexcept { return now_; }

  // ---- what happened
  void note(std::string_view what, std::uint64_t a = 0, std::uint64_t b = 0);
  void fail(std::string why);  // the first one counts
  // Who blocks is freed by that when something has failed.
  void rescue_by(detail::function<void()> f) { rescue_ = std::move(f); }
  bool failed() const noexcept { return !failure_.empty(); }
  const std::string& failure() const noexcept { return failure_; }
  std::uint64_t digest() const noexcept { return digest_; }
  const std::string& text() const noexcept { return text_; }

 private:
  struct key {
    time at;
    std::uint32_t tie;  // of two at the same time the dice choose
    id number;
    auto operator<=>(const key&) const = default;
  };
  struct event {
    machine where;
    detail::function<void()> what;
  };
  struct boot {
    nanoseconds offset;
    std::int64_t ppm;  // how much faster than the world it runs
    time paused_until{};
    bool dead = false;
  };
  struct here {
    here(world& w, machine m) : in(w), before(std::exchange(w.acting_, m)) {}
    here(const here&) = delete;
    here& operator=(const here&) = delete;
    ~here() { in.acting_ = before; }
    world& in;
    machine before;
  };
  void mix(std::uint64_t) noexcept;

  std::uint64_t dice_;
  const record record_;
  time now_{0};
  machine acting_ = nowhere;
  int depth_ = 0;
  id next_ = 1;
  std::map<key, event> events_;
  std::unordered_map<id, key> keys_;
  std::vector<boot> machines_;
  std::uint64_t digest_ = 0xcbf29ce484222325U;
  std::string text_;
  std::string failure_;
  detail::function<void()> after_each_;
  detail::function<void()> rescue_;
};

}  // namespace afar::test
