#include "simulator/promises.hpp"

#include <algorithm>
#include <utility>

namespace afar::test {
namespace {

// A machine that went on has to look around first, see substitutes.cpp.
constexpr nanoseconds to_look_around = 5ms;
// A call that has to end may end that much later: what the library promises.
constexpr auto grace = 100ms;
// Free and wanted: less than the time after which a waiter looks again by itself. And where a
// notification was lost, a little more than that.
constexpr nanoseconds most_idle = 600ms;
constexpr nanoseconds most_idle_unwoken = 1'700ms;

}  // namespace

promises::promises(world& w, const plan& p)
    : world_(w), plan_(p), names_(p.names.size() + 1), well_from_(p.calm ? 0s : 1'000'000s) {}

promises::wish promises::asks(open_wish o) {
  o.newest_token = names_[o.name].newest_token;
  return wishes_.insert(wishes_.end(), o);
}

void promises::hurries(wish w, boot_clock::time_point due) { w->due = std::min(w->due, due); }

void promises::ends(wish w) {
  if (late(*w)) world_.fail("a call ended after its deadline");
  wishes_.erase(w);
}

promises::held promises::gets(belief b, const open_wish& o) {
  auto& n = names_[b.name];
  const auto token = b.hold->token();
  if (token <= o.newest_token) world_.fail("a token did not grow");
  if (!n.tokens.insert(token).second) world_.fail("two grants have one token");
  n.newest_token = std::max(n.newest_token, token);
  n.busy_at = world_.now();
  return held_.insert(held_.end(), std::move(b));
}

void promises::put_back(std::optional<bool> applied) {
  --on_the_way_;
  if (!applied) ++not_known_;
  if (applied == false) world_.fail("more was put back than was taken");
}

void promises::dies(world::machine m) {
  std::erase_if(wishes_, [m](const auto& w) { return w.machine == m; });
  std::erase_if(held_, [m](const auto& h) { return h.machine == m; });
}

bool promises::runs(world::machine m) const {
  return !world_.paused(m) && world_.now() >= world_.resumed(m) + to_look_around;
}

bool promises::late(const open_wish& w) const {
  if (w.due == boot_clock::time_point::max() || !runs(w.machine)) return false;
  const auto excused = world_.resumed(w.machine) + grace > world_.now();
  return world_.clock(w.machine) > w.due + grace && !(excused && world_.resumed(w.machine) > 0s);
}

// ---- one holder at a time -------------------------------------------------------------------------

void promises::after_event() {
  if (taken_ > plan_.takeable) world_.fail("more were taken than there are");
  for (std::size_t n = 0; n < plan_.names.size(); ++n) {
    std::uint64_t writers = 0;
    std::uint64_t readers = 0;
    std::uint64_t permits = 0;
    for (const auto& h : held_) {
      // Also on a machine that stands still: it would believe so if it went on now.
      if (h.name != n || !world_.as(h.machine, [&] { return h.hold->valid(); })) continue;
      ++(h.mode == spi::access::exclusive ? writers : readers);
      permits += h.permits;
    }
    const bool shares = plan_.names[n].kind == spi::kind::permits;
    if (shares && permits > plan_.names[n].limit) world_.fail("more permits than there are");
    if (!shares && (writers > 1 || (writers == 1 && readers > 0)))
      world_.fail("two believe to hold what only one may");
  }
}

bool promises::conflict(const belief& b, const spi::claim& c) const {
  if (plan_.names[b.name].text != c.what.name || b.owner == c.owner) return false;
  if (c.what.kind == spi::kind::permits) return plan_.names[b.name].limit < b.permits + c.permits;
  return b.mode == spi::access::exclusive || c.mode == spi::access::exclusive;
}

// The server gives something away: who had it before has been told.
void promises::granted(const spi::claim& c, const spi::acquire_reply&) {
  for (std::size_t n = 0; n < plan_.names.size(); ++n)
    if (plan_.names[n].text == c.what.name) names_[n].busy_at = world_.now();
  for (const auto& h : held_) {
    // Who closes the client himself may hear of it a little later; it is not valid any more.
    const bool told_or_closed = told(h) || h.hold->why() == loss_reason::closed;
    if (conflict(h, c) && runs(h.machine) && !told_or_closed)
      world_.fail("not told before it was taken");
  }
}

// ---- nobody waits for nothing -----------------------------------------------------------------------

bool promises::wanted(std::size_t name) const {
  return std::ranges::any_of(
      wishes_, [&](const auto& w) { return w.name == name && !world_.paused(w.machine); });
}

void promises::audit(simulated_server& s) {
  if (std::ranges::any_of(wishes_, [&](const auto& w) { return late(w); }))
    world_.fail("a call goes on after its deadline");
  if (world_.now() < well_from_) return;
  for (std::size_t n = 0; n < plan_.names.size(); ++n) {
    auto& busy_at = names_[n].busy_at;
    const auto survey = s.survey(plan_.names[n].text);
    // What stays with a client that does not use it is free, too: it is given to who wants it.
    const bool unused = plan_.sticky > 0ms && plan_.names[n].kind == spi::kind::mutex &&
                        std::ranges::none_of(held_, [&](const auto& h) { return h.name == n; });
    const bool free = unused || survey.entries.empty() || survey.entries.front().holders.empty();
    if (!free || !wanted(n)) busy_at = world_.now();
    const auto most = plan_.calm ? most_idle : most_idle_unwoken;
    if (world_.now() - std::max(busy_at, well_from_) > most)
      world_.fail("free and wanted, and nobody gets it");
  }
}

void promises::expect_nothing_left(simulated_server& s) {
  for (const auto& n : plan_.names)
    for (const auto& e : s.survey(n.text).entries)
      if (!e.holders.empty() || !e.waiters.empty())
        world_.fail(e.holders.empty() ? "a place in line is left behind" : "a hold is left behind");
  for (const auto& e : s.survey(plan::semaphore).entries) {
    if (e.value > plan_.takeable || e.value < plan_.takeable - not_known_)
      world_.fail("the semaphore has another value than it began with");
  }
}

}  // namespace afar::test
