#include "engines/records/line.hpp"

#include "engines/records/barrier.hpp"
#include "engines/records/instant.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <limits>

namespace afar::engines::records {
namespace {

using spi::access;
using spi::kind;

// Values of place::called besides the time of the call. A place that was called, did not come and
// was passed is `slow`: it is called again when it may hold, but nobody waits for it a second time.
constexpr time_point not_called{};
constexpr time_point slow{std::chrono::nanoseconds{1}};

// Those with whom a claim would share the resource: the holders, and whoever in line it may not
// pass.
struct crowd {
  bool exclusive = false;
  std::size_t heads = 0;
  std::uint64_t permits = 0;

  template <class T>
  void add(const T& x) {
    exclusive |= x.mode == access::exclusive;
    ++heads;
    permits += x.permits;
  }
};

// The one thing in which the kinds differ: may it hold beside these?
bool fits(const claims& c, const crowd& others, access mode, std::uint32_t permits) {
  switch (c.kind) {
    case kind::mutex:
    case kind::fair_mutex:
    case kind::election:
      return others.heads == 0;
    case kind::shared_mutex:
      return mode == access::exclusive ? others.heads == 0 : !others.exclusive;
    case kind::permits:
      if (AFAR_MUTANT("records.permits.one_too_many")) return others.permits < c.limit;
      return others.permits + permits <= c.limit;
    case kind::barrier:
    case kind::counter:
    case kind::latch:
    case kind::semaphore:
    case kind::stock:
      return false;
  }
  return false;
}

// Whether nobody fits beside these any more, whatever it wants.
bool full(const claims& c, const crowd& others) {
  switch (c.kind) {
    case kind::mutex:
    case kind::fair_mutex:
    case kind::election:
      return others.heads != 0;
    case kind::shared_mutex:
      return others.exclusive;
    case kind::permits:
      return others.permits >= c.limit;
    case kind::barrier:
    case kind::counter:
    case kind::latch:
    case kind::semaphore:
    case kind::stock:
      return true;
  }
  return true;
}

bool passable(const claims& c, const place& p, const moment& m) {
  if (c.kind == kind::fair_mutex || p.called == not_called) return false;
  return p.called == slow || m.now - p.called > m.patience;
}

bool outstanding(const place& p) { return p.called != not_called && p.called != slow; }

void call(place& p, bool may_hold, bool is_passable, const moment& m, effects& e) {
  if (may_hold == outstanding(p)) return;
  e.changed = true;
  if (!may_hold) {
    p.called = is_passable ? slow : not_called;
    return;
  }
  p.called = p.called == slow ? m.now - m.patience - std::chrono::nanoseconds{1} : m.now;
  e.call.push_back(p.owner);
}

// Nobody from there on fits: most of a long line, so no more is done than must be.
void take_back_calls(claims& c, std::vector<place>::iterator from, const moment& m, effects& e) {
  for (; from != c.line.end(); ++from)
    if (outstanding(*from)) call(*from, false, passable(c, *from, m), m, e);
}

// (rule 5) It counts from when the waiter has asked last, if that was later than the clock was read by
// who frees the name: the waiter counts from then, too.
void grant(claims& c, const place& p, const moment& m, effects& e) {
  const milliseconds lease = std::min(p.lease, m.waiter_lease);
  holder& h = c.holders.emplace_back();
  h.owner = p.owner;
  h.session = p.session;
  h.mode = p.mode;
  h.permits = p.permits;
  h.note = p.note;
  h.since = h.renewed = std::max(m.now, p.until - m.waiter_lease);
  if (AFAR_MUTANT("records.grant.from_the_reader")) h.since = m.now;
  h.until = later(h.since, lease);
  new_token(c, h, p.handoffs, m);
  e.call.push_back(h.owner);
  e.grants.push_back({h.owner, h.session, h.token, h.last_token, lease});
  e.changed = e.holders_changed = true;
}

// The date lies ahead by as much as the tokens ran ahead of the calendar (blocks for local hand-off
// make them run), because only a calendar that has caught up replaces the record as a token floor.
time_point idle_date(const claims& c, const moment& m) {
  const std::uint64_t ahead = c.last_token > m.calendar_us ? c.last_token - m.calendar_us : 0;
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return later(m.now, std::chrono::microseconds{static_cast<std::int64_t>(std::min(ahead, most))});
}

}  // namespace

void remember(claims& c, const holder& h, spi::loss why, time_point when) {
  auto& all = c.history;
  std::shift_right(all.begin(), all.end(), 1);
  all.front() = {h.session, h.token, h.since, when, why};
  c.past_holds = std::min<std::uint32_t>(c.past_holds + 1, most_past_holds);
}

void new_token(claims& c, holder& h, std::uint32_t handoffs, const moment& m) {
  h.token = std::max(c.last_token + 1, m.calendar_us);
  if (AFAR_MUTANT("records.token.counts_only")) h.token = c.last_token + 1;
  c.last_token = h.last_token = h.token + handoffs;
}

void clean(claims& c, const moment& m, effects& e) {
  // Neighbours in line are often of one process, which is then looked for once.
  session_id lives = m.session;
  const auto ended = [&](const place& p) {
    if (p.until > m.now && p.session == lives) return false;
    if (over(p, m)) return true;
    lives = p.session;
    return false;
  };
  const auto forgotten = [&](const auto& x) { return x.until <= m.now; };
  const auto hold_ended = [&](const holder& h) {
    if (!over(h, m) || AFAR_MUTANT("records.lease.never_over")) return false;
    const bool expired = h.until <= m.now;
    remember(c, h, expired ? spi::loss::expired : spi::loss::session, expired ? h.until : m.now);
    return true;
  };
  if (std::erase_if(c.holders, hold_ended) != 0) e.changed = e.holders_changed = true;
  if (c.kind == kind::barrier) {
    if (std::ranges::any_of(c.line, ended)) break_generation(c, m, e);
  } else if (std::erase_if(c.line, ended) != 0) {
    e.changed = true;
  }
  if (std::erase_if(c.evictions, forgotten) != 0) e.changed = true;
  if (std::erase_if(c.verdicts, forgotten) != 0) e.changed = true;
}

void settle(claims& c, const moment& m, effects& e) {
  crowd others;
  for (const holder& h : c.holders) others.add(h);
  for (auto p = c.line.begin(); p != c.line.end() && c.kind != kind::barrier;) {
    if (full(c, others)) {
      take_back_calls(c, p, m, e);
      break;
    }
    const bool free = fits(c, others, p->mode, p->permits);
    if (free && p->lease > milliseconds{0}) {
      others.add(*p);
      grant(c, *p, m, e);
      p = c.line.erase(p);
      continue;
    }
    call(*p, free, passable(c, *p, m), m, e);
    if (!passable(c, *p, m)) others.add(*p);
    ++p;
  }
  if (e.changed && c.idle()) c.idle_since = idle_date(c, m);
}

bool may_hold(const claims& c, const spi::claim& a, std::vector<place>::const_iterator at,
              const moment& m) {
  crowd others;
  for (const holder& h : c.holders) others.add(h);
  for (auto p = c.line.begin(); p != at && !full(c, others); ++p)
    if (!passable(c, *p, m)) others.add(*p);
  return fits(c, others, a.mode, a.permits);
}

milliseconds retry_after(const claims& c, const spi::claim& a, const moment& m) {
  milliseconds best = m.waiter_lease / 3;
  bool others = false;
  for (const holder& h : c.holders) {
    if (h.owner == a.owner) continue;
    best = std::min(best, left(h.until, m.now));
    others |= foreign(h.session, m);
  }
  // If all ahead were called, this claim is the one that passes them when they do not come.
  std::optional<milliseconds> slow_by;
  bool next = c.kind != kind::fair_mutex && c.kind != kind::barrier;
  for (const place& p : c.line) {
    if (p.owner == a.owner) {
      if (c.kind == kind::barrier) continue;  // whoever is behind counts as well
      break;
    }
    others |= foreign(p.session, m);
    next = next && p.called != not_called;
    if (next && !passable(c, p, m))
      slow_by = left(later(p.called, m.patience), m.now) + milliseconds{1};
  }
  if (next && slow_by) best = std::min(best, *slow_by);
  if (others) best = std::min(best, m.recheck);
  return std::max(best, milliseconds{1});
}

}  // namespace afar::engines::records
