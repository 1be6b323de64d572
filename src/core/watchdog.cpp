#include "core/watchdog.hpp"

#include "core/core.hpp"
#include "core/hold_state.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <utility>

namespace afar::detail {

namespace {
// Hardly more than a hundred: a server that does one thing at a time makes others wait for a whole portion.
constexpr std::size_t portion = 104;

// Between two portions: very many take nearly all of the time until they are due again, as others meet a server
// that is busy with them the less often. With the shortest rest there is room for 260,000 in a pace of which
// a third passes between two renewals; more have no rest.
std::chrono::nanoseconds rest_after_portion(std::chrono::nanoseconds pace, std::size_t holds) {
  const auto even =
      pace / 300 * 98 * static_cast<std::int64_t>(portion) / static_cast<std::int64_t>(holds);
  return std::clamp(even, pace / 7'500, pace / 3'000);
}

}  // namespace

void watchdog::enter(hold_state& h, time_point sent) {
  const std::lock_guard lock(m_);
  append(h, sent);
}

void watchdog::confirmed(hold_state& h, time_point sent) {
  const std::lock_guard lock(m_);
  if (!h.hook.listed && !h.hook.busy) return;  // has left meanwhile
  unlink(h);
  append(h, sent);
}

void watchdog::leave(hold_state& h) noexcept {
  const std::lock_guard lock(m_);
  unlink(h);
}

void watchdog::append(hold_state& h, time_point sent) {
  auto at = std::ranges::find_if(
      lists_, [&](const list& l) { return l.pace == h.pace() && l.renews == h.renews(); });
  if (at == lists_.end()) {
    lists_.push_back({.pace = h.pace(), .renews = h.renews()});
    at = std::prev(lists_.end());
  }
  auto& hook = h.hook;
  hook.due = h.renews() ? sent + h.pace() / 3 : h.valid_until();
  hook.list = static_cast<std::size_t>(at - lists_.begin());
  hook.listed = true;
  // A grant that was pushed counts from an earlier request than those before it.
  hook.previous = at->last;
  while (hook.previous && hook.previous->hook.due > hook.due)
    hook.previous = hook.previous->hook.previous;
  hook.next = hook.previous ? hook.previous->hook.next : at->first;
  (hook.previous ? hook.previous->hook.next : at->first) = &h;
  (hook.next ? hook.next->hook.previous : at->last) = &h;
  ++at->count;
  // With every portion that is added the first one is due earlier.
  const auto due = at->count % portion == 0 ? at->next_due() : hook.due;
  if (due < armed_) arm(due);
}

// When the first one is due, or goes so that the others are not late.
watchdog::time_point watchdog::list::next_due() const {
  const bool many = renews && lead() > pace / 20;
  return std::max(many ? first->hook.due - lead() : first->hook.due, rests_until);
}

void watchdog::unlink(hold_state& h) noexcept {
  auto& hook = h.hook;
  if (std::exchange(hook.busy, false)) busy_.erase(hook.at);
  if (!std::exchange(hook.listed, false)) return;
  auto& l = lists_[hook.list];
  --l.count;
  (hook.previous ? hook.previous->hook.next : l.first) = hook.next;
  (hook.next ? hook.next->hook.previous : l.last) = hook.previous;
}

std::vector<std::shared_ptr<hold_state>> watchdog::all() {
  std::vector<std::shared_ptr<hold_state>> out;
  const std::lock_guard lock(m_);
  const auto add = [&](hold_state* h) {
    // A state whose last owner is leaving has no shared owner any more; it needs nothing.
    if (auto p = h->weak_from_this().lock()) out.push_back(std::move(p));
  };
  for (const auto& l : lists_)
    for (auto* h = l.first; h; h = h->hook.next) add(h);
  for (const auto& [due, h] : busy_) add(h);
  return out;
}

// The timer outlives neither the client nor the process: it looks whether the core is still there. There is one at a
// time: every tick sets the next, so those that were not taken back would go on side by side for ever.
void watchdog::arm(time_point t) {
  timers::shared().cancel(timer_);
  armed_ = t;
  timer_ = timers::shared().at(t, [weak = core_.weak_from_this()] {
    if (const auto c = weak.lock()) c->renewals().tick(boot_clock::now());
  });
}

// What is being renewed already is looked at again soon by itself.
void watchdog::renew_all() {
  const auto now = boot_clock::now();
  const std::lock_guard lock(m_);
  for (const auto& l : lists_)
    if (l.renews)
      for (auto* h = l.first; h; h = h->hook.next) h->hook.due = std::min(h->hook.due, now);
  if (const auto next = next_event(); next < armed_) arm(next);
}

watchdog::time_point watchdog::next_event() const {
  auto next = busy_.empty() ? time_point::max() : busy_.begin()->first;
  for (const auto& l : lists_)
    if (l.first) next = std::min(next, l.next_due());
  return next;
}

// How much earlier than they are due holds may be renewed: what is due soon goes with this request. Where they are so
// many that they take their time, the first ones go so early that the last ones are not late.
std::chrono::nanoseconds watchdog::list::lead() const {
  const auto all_take = rest_after_portion(pace, std::max<std::size_t>(count, 1)) *
                        static_cast<std::int64_t>(count / portion);
  return std::max<std::chrono::nanoseconds>(pace / 20, all_take);
}

// One tick for many holds.
void watchdog::take_due(list& l, time_point now, std::vector<hold_state*>& into) {
  if (now < l.rests_until) return;
  const auto soon = l.pace / 20;
  const auto horizon = l.renews ? now + l.lead() : now;
  // Who comes late (the process was stopped) has no time to lose.
  const bool may_rest = l.renews && l.first && l.first->hook.due + soon > now;
  std::size_t taken = 0;
  for (auto* h = l.first; h && h->hook.due <= horizon; h = h->hook.next) {
    if (may_rest && taken++ == portion) {
      l.rests_until = now + rest_after_portion(l.pace, l.count);
      return;
    }
    into.push_back(h);
  }
}

void watchdog::tick(time_point now) {
  // With the time that it is sorted by: a renewal that is answered meanwhile moves valid_until().
  struct due_hold {
    time_point until;
    std::shared_ptr<hold_state> hold;
  };
  std::vector<due_hold> due;
  {
    const std::lock_guard lock(m_);
    std::vector<hold_state*> looked_at;
    for (auto& l : lists_) take_due(l, now, looked_at);
    for (auto at = busy_.begin(); at != busy_.end() && at->first <= now; ++at)
      looked_at.push_back(at->second);
    for (auto* h : looked_at) {
      auto held = h->weak_from_this().lock();
      unlink(*h);
      if (!held) continue;
      // Until it is confirmed it is looked at again in time to repeat the request and to tell.
      const auto until = h->valid_until();
      h->hook.due = std::min(std::max(now + h->pace() / 6, now + std::chrono::milliseconds{1}),
                             std::max(until, now));
      h->hook.busy = true;
      h->hook.at = busy_.emplace(h->hook.due, h);
      due.push_back({until, std::move(held)});
    }
    armed_ = time_point::max();
  }
  std::vector<std::shared_ptr<hold_state>> asked;
  std::vector<spi::claim*> claims;
  const auto send = [&] {
    if (claims.empty()) return;
    AFAR_FAULT("core.renew.before_send");
    const auto sent = boot_clock::now();
    counters::up(core_.stats().steps);
    core_.engine().renew(claims, core_.background_by(sent),
                         [asked = std::move(asked), sent](std::size_t i, const spi::status& s,
                                                          const spi::renew_reply& r) {
                           asked[i]->renewed(s, r, sent);
                         });
    asked = {};
    claims.clear();
  };
  std::ranges::sort(due, {}, &due_hold::until);
  for (auto& [until, h] : due) {
    if (now >= h->valid_until()) {
      h->lose(h->renews() ? loss_reason::unreachable : loss_reason::expired);
      continue;
    }
    if (!h->renews()) continue;
    if (auto* claim = h->prepare_renewal()) {
      claims.push_back(claim);
      asked.push_back(h);
      if (claims.size() == portion) send();
    }
  }
  send();
  const std::lock_guard lock(m_);
  if (const auto next = next_event(); next < armed_) arm(next);
}

}  // namespace afar::detail
