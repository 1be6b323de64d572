#include "simulator/schedule.hpp"

#include "simulator/actors.hpp"
#include "simulator/network.hpp"
#include "simulator/plan.hpp"
#include "simulator/promises.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace afar::test {

tally& tally::operator+=(const tally& o) noexcept {
  events += o.events;
  calls += o.calls;
  blocked += o.blocked;
  grants += o.grants;
  given_up += o.given_up;
  taken += o.taken;
  lost += o.lost;
  reused += o.reused;
  pauses += o.pauses;
  crashes += o.crashes;
  cuts += o.cuts;
  closes += o.closes;
  return *this;
}

namespace {

constexpr nanoseconds between_audits = 50ms;
// After that what failed before has been repeated, and what the dead have left is over.
constexpr nanoseconds to_recover = 20s;

class schedule {
 public:
  schedule(std::uint64_t seed, world::record);
  outcome run();

 private:
  void audit();
  void plan_fault();
  void fault();
  client& somebody() { return *clients_[world_.below(clients_.size())]; }
  void restart_later();
  void be_busy();
  void become_quiet();
  void settle();
  void close_all();
  void run_for(nanoseconds);

  world world_;
  plan plan_;
  promises promises_;
  simulated_server server_;
  tally counted_;
  scene scene_;
  std::vector<std::unique_ptr<client>> clients_;  // those that are over, too
  world::id never_ = 0;
  bool set_back_ = false;  // the server's calendar, once
};

schedule::schedule(std::uint64_t seed, world::record r)
    : world_(seed, r),
      plan_(world_),
      promises_(world_, plan_),
      server_(world_, plan_.way, promises_),
      scene_{world_, plan_, promises_, server_, counted_} {
  world_.after_each([this] {
    ++counted_.events;
    promises_.after_event();
  });
}

void schedule::run_for(nanoseconds d) {
  world_.run_until(world_.now() + d, [this] { return world_.failed(); });
}

void schedule::audit() {
  promises_.audit(server_);
  world_.after(between_audits, world::nowhere, [this] { audit(); });
}

// ---- what happens to them -------------------------------------------------------------------------

void schedule::plan_fault() {
  world_.after(world_.between(20ms, 800ms), world::nowhere, [this] {
    if (scene_.ending) return;
    fault();
    plan_fault();
  });
}

void schedule::restart_later() {
  world_.after(world_.between(0ns, 500ms), world::nowhere, [this] {
    if (!scene_.ending) clients_.push_back(std::make_unique<client>(scene_));
  });
}

void schedule::fault() {
  auto& c = somebody();
  if (c.over()) return;
  switch (world_.below(plan_.takeable > 0 ? 5 : 8)) {
    case 0:
      ++counted_.pauses;
      world_.note("stands still", c.machine());
      return world_.pause(c.machine(), world_.between(1ms, 3 * plan_.lease));
    case 1:
      ++counted_.cuts;
      world_.note("is cut off", c.machine());
      return c.way().cut(world_.between(1ms, 2 * plan_.lease));
    case 2:
      world_.note("the server's calendar is set");
      // Back only by less than the server remembers an idle name's tokens: see docs/guarantees.md.
      return server_.clock().step(std::exchange(set_back_, true) ? 3'600s : -9s);
    case 3:
      return c.way().tell([](spi::host& h) { h.wake_all(); });
    case 4:
      return c.way().tell([](spi::host& h) { h.in_doubt(); });
    case 5:
      return c.way().tell([](spi::host& h) { h.session_lost(); });
    case 6:
      if (world_.inside()) return;
      ++counted_.crashes;
      c.crash();
      return restart_later();
    default:
      world_.after(0ns, c.machine(), [&c, this] {
        if (world_.inside() || c.over()) return;
        ++counted_.closes;
        c.close();
        restart_later();
      });
      return;
  }
}

// ---- from the beginning to the end ------------------------------------------------------------------

void schedule::be_busy() {
  clients_.reserve(64);
  for (std::size_t i = 0; i < plan_.clients; ++i)
    clients_.push_back(std::make_unique<client>(scene_));
  audit();
  if (!plan_.calm) plan_fault();
  world_.at(plan_.busy, world::nowhere, [this] { become_quiet(); });
  while (!world_.failed() && !scene_.ending) world_.step();
}

// Everybody gets what he still waits for, or gives up, and gives it back.
void schedule::become_quiet() {
  scene_.ending = true;
  plan_.way.refused = plan_.way.lost = plan_.way.unanswered = plan_.way.unwoken = 0;
  for (const auto& c : clients_) c->way().cut(0ns);
  if (!plan_.calm) promises_.things_are_well_from(world_.now() + to_recover);
  never_ =
      world_.after(to_recover + 20s, world::nowhere, [this] { world_.fail("a call never ends"); });
}

void schedule::settle() {
  while (!world_.failed() && !promises_.quiet()) world_.step();
  world_.cancel(never_);
  // What is given back, or given up, is so soon; after a failure at the latest with its lease.
  run_for(plan_.calm ? nanoseconds{1s} : to_recover);
  if (!world_.failed()) promises_.expect_nothing_left(server_);
}

void schedule::close_all() {
  for (const auto& c : clients_) {
    if (world_.failed()) {
      c->crash();
      continue;
    }
    world_.as(c->machine(), [&] { c->close(); });
  }
  run_for(to_recover);
  for (const auto& c : clients_)
    if (!world_.failed() && c->leaks()) world_.fail("a core that was closed is still there");
}

outcome schedule::run() {
  be_busy();
  if (!world_.failed()) settle();
  close_all();
  world_.note("the end");
  world_.forget_events();
  return {.failure = world_.failure(),
          .digest = world_.digest(),
          .text = world_.text(),
          .counted = counted_};
}

}  // namespace

outcome run_schedule(std::uint64_t seed, world::record r) {
  schedule s(seed, r);
  return s.run();
}

}  // namespace afar::test
