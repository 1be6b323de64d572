#include "engines/records/claims.hpp"

#include "engines/records/barrier.hpp"
#include "engines/records/instant.hpp"
#include "engines/records/line.hpp"
#include "engines/records/wrong_use.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>

namespace afar::engines::records {
namespace {

using spi::access;
using spi::kind;
using spi::loss;

std::uint32_t stored_limit(const spi::claim& a) { return has_limit(a.what.kind) ? a.limit : 1; }

// Those two share a name: a mutex is a shared_mutex that nobody shares.
constexpr bool is_lock(kind k) noexcept { return k == kind::mutex || k == kind::shared_mutex; }

// Checks the use, and gives a record that nobody uses to this claim.
spi::status adopt(claims& c, const spi::claim& a, effects& e) {
  const usage wanted{a.what.kind, stored_limit(a)};
  if (a.limit == 0 && has_limit(a.what.kind)) return {errc::bad_argument, "a limit of 0"};
  if (a.what.kind == kind::permits && (a.permits == 0 || a.permits > a.limit))
    return {errc::bad_argument,
            std::to_string(a.permits) + " permits of " + std::to_string(a.limit)};
  if (same_use({c.kind, c.limit}, wanted)) return {};
  const bool in_use = !c.holders.empty() || !c.line.empty();
  if (in_use && is_lock(c.kind) && is_lock(wanted.kind)) {
    e.changed |= c.kind != kind::shared_mutex;
    c.kind = kind::shared_mutex;  // the mutexes are its writers
    return {};
  }
  if (in_use) return wrong_use({c.kind, c.limit}, wanted);
  c.kind = wanted.kind;
  c.limit = wanted.limit;
  e.changed = true;
  return {};
}

// What the holder knows may be newer than what is stored: local hand-offs are not told at once.
void raise_token(claims& c, holder& h, std::uint64_t token) {
  h.token = std::max(h.token, token);
  h.last_token = std::max(h.last_token, h.token);
  c.last_token = std::max(c.last_token, h.last_token);
}

void write_note(holder& h, const spi::claim& a, effects& e) {
  if (h.note == a.note) return;
  h.note = a.note;
  e.holders_changed = true;
}

void report(holder& h, const spi::claim& a, const moment& m, spi::acquire_reply& reply,
            effects& e) {
  h.until = later(m.now, a.lease);
  h.renewed = m.now;
  e.changed = true;
  reply.granted = true;
  reply.token = h.token;
  reply.last_token = h.last_token;
  reply.lease = a.lease;
}

void grant(claims& c, const spi::claim& a, const moment& m, spi::acquire_reply& reply, effects& e) {
  holder& h = c.holders.emplace_back();
  h.owner = a.owner;
  h.session = m.session;
  h.mode = a.mode;
  h.permits = a.permits;
  h.since = m.now;
  h.note = a.note;
  new_token(c, h, a.handoffs, m);
  std::erase_if(c.evictions, [&](const eviction& x) { return x.owner == a.owner; });
  e.holders_changed = true;
  report(h, a, m, reply, e);
}

// A hold is acquired again: a repeated request, or a change of its mode.
void convert(claims& c, holder& h, const spi::claim& a, const moment& m, spi::acquire_reply& reply,
             effects& e) {
  if (a.token != 0) {
    const bool upgrade = h.mode == access::shared && a.mode == access::exclusive;
    if (upgrade && c.holders.size() > 1) return;
    raise_token(c, h, a.token);
    if (upgrade) new_token(c, h, a.handoffs, m);
    if (h.mode != a.mode) e.holders_changed = true;
    h.mode = a.mode;
  }
  write_note(h, a, e);
  report(h, a, m, reply, e);
}

loss why_gone(const claims& c, const spi::owner_id& owner) {
  return of_owner(c.evictions, owner) == c.evictions.end() ? loss::expired : loss::evicted;
}

// A claim without a hold: granted, put in line, or sent away.
void attempt(claims& c, const spi::claim& a, const moment& m, spi::acquire_reply& reply,
             effects& e) {
  const auto mine = of_owner(c.line, a.owner);
  const bool in_line = mine != c.line.end();
  const bool free = may_hold(c, a, mine, m);
  if (in_line && (free || !a.queue)) {
    c.line.erase(mine);
    e.changed = true;
  }
  if (free) return grant(c, a, m, reply, e);
  if (!a.queue) return;

  place& p = in_line ? *mine : c.line.emplace_back();
  if (!in_line) p.since = m.now;
  p.owner = a.owner;
  p.session = m.session;
  p.mode = a.mode;
  p.permits = a.permits;
  p.until = later(m.now, m.waiter_lease);
  p.called = {};  // it came, so it is not slow
  p.note = a.note;
  if (m.grants) {
    p.lease = a.lease;
    p.handoffs = a.handoffs;
  }
  e.changed = true;
}

spi::status try_acquire(claims& c, const spi::claim& a, const moment& m, spi::acquire_reply& reply,
                        effects& e) {
  if (auto known = verdict_of(c, a, reply)) return *known;
  if (auto failed = adopt(c, a, e)) return failed;
  if (c.kind == kind::barrier) return arrive(c, a, m, reply, e);
  const auto h = of_owner(c.holders, a.owner);
  if (h != c.holders.end())
    convert(c, *h, a, m, reply, e);
  else if (a.token != 0)
    reply.why = why_gone(c, a.owner);
  else
    attempt(c, a, m, reply, e);
  return {};
}

spi::claimant described(const spi::owner_id& owner, access mode, std::uint32_t permits) {
  spi::claimant out;
  out.owner = owner;
  out.mode = mode;
  out.permits = permits;
  return out;
}

}  // namespace

claims fresh_claims(const spi::claim& a) {
  claims c;
  c.kind = a.what.kind;
  c.limit = stored_limit(a);
  return c;
}

spi::status acquire(claims& c, const spi::claim& a, const moment& m, spi::acquire_reply& reply,
                    effects& e) {
  reply = {};
  clean(c, m, e);
  spi::status s = try_acquire(c, a, m, reply, e);
  settle(c, m, e);
  if (!s && !reply.granted && reply.why == loss::none) reply.retry_after = retry_after(c, a, m);
  return s;
}

spi::renew_reply renew(claims& c, const spi::claim& a, const moment& m, effects& e) {
  clean(c, m, e);
  spi::renew_reply reply{.lease = a.lease};
  auto h = of_owner(c.holders, a.owner);
  const auto p = of_owner(c.line, a.owner);
  const auto v = of_owner(c.verdicts, a.owner);
  if (AFAR_MUTANT("records.renew.revives") && h == c.holders.end() && c.holders.empty()) {
    h = c.holders.emplace(h);
    h->owner = a.owner;
  }
  if (h != c.holders.end()) {
    h->until = later(m.now, a.lease);
    h->renewed = m.now;
    ++h->renewals;
    raise_token(c, *h, a.token);
    write_note(*h, a, e);
    e.changed = true;
  } else if (p != c.line.end()) {
    p->until = later(m.now, m.waiter_lease);
    p->note = a.note;
    e.changed = true;
  } else if (v != c.verdicts.end()) {
    v->until = later(m.now, verdict_life(m));
    e.changed = true;
  } else {
    reply = {.why = why_gone(c, a.owner), .lease = {}};
  }
  settle(c, m, e);
  return reply;
}

spi::release_reply release(claims& c, const spi::owner_id& owner, const moment& m, effects& e) {
  clean(c, m, e);
  const auto mine = [&](const auto& x) { return x.owner == owner; };
  auto h = of_owner(c.holders, owner);
  if (AFAR_MUTANT("records.release.any_owner")) h = c.holders.begin();
  const bool held = h != c.holders.end();
  if (held) {
    remember(c, *h, loss::none, m.now);
    c.holders.erase(h);
  }
  const bool stood = std::erase_if(c.line, mine) != 0;
  const bool judged = std::erase_if(c.verdicts, mine) != 0;
  const bool evicted = std::erase_if(c.evictions, mine) != 0;
  if (stood && c.kind == kind::barrier) break_generation(c, m, e);
  if (held) e.holders_changed = true;
  if (held || stood || judged || evicted) e.changed = true;
  settle(c, m, e);
  return held || stood || judged ? spi::release_reply::released : spi::release_reply::gone;
}

spi::release_reply evict(claims& c, const spi::owner_id& owner, std::uint64_t token,
                         const moment& m, effects& e) {
  clean(c, m, e);
  auto reply = spi::release_reply::gone;
  const auto h = of_owner(c.holders, owner);
  if (h != c.holders.end() && h->token == token) {
    c.evictions.push_back({owner, h->until});
    remember(c, *h, loss::evicted, m.now);
    c.holders.erase(h);
    c.last_token = std::max(c.last_token + 1, m.calendar_us);
    e.changed = e.holders_changed = true;
    reply = spi::release_reply::released;
  } else if (of_owner(c.evictions, owner) != c.evictions.end()) {
    reply = spi::release_reply::released;  // repeated, because its answer was lost
  }
  settle(c, m, e);
  return reply;
}

void sweep(claims& c, const moment& m, effects& e) {
  clean(c, m, e);
  settle(c, m, e);
}

spi::entry describe(const claims& c, std::string name, const moment& m) {
  spi::entry out;
  out.kind = c.kind;
  out.name = std::move(name);
  out.limit = c.limit;
  out.last_token = c.last_token;
  const auto since = [&](time_point t) {
    return std::chrono::floor<milliseconds>(std::max(m.now, t) - t);
  };
  for (const holder& h : c.holders) {
    if (over(h, m)) continue;
    auto& x = out.holders.emplace_back(described(h.owner, h.mode, h.permits));
    x.token = h.token;
    x.since = since(h.since);
    x.lease_left = left(h.until, m.now);
    x.note = h.note;
    x.lease = std::chrono::floor<milliseconds>(h.until - h.renewed);
    if (h.renewals != 0) x.renewed = since(h.renewed);
    x.renewals = h.renewals;
  }
  for (std::uint32_t i = 0; i < c.past_holds; ++i) {
    const past_hold& past = c.history[i];
    out.history.push_back({.token = past.token,
                           .why = past.why,
                           .held = std::chrono::floor<milliseconds>(past.until - past.since),
                           .ago = since(past.until)});
  }
  for (const place& p : c.line) {
    if (over(p, m)) continue;
    auto& x = out.waiters.emplace_back(described(p.owner, p.mode, p.permits));
    x.since = since(p.since);
    x.lease_left = left(p.until, m.now);
    x.note = p.note;
  }
  return out;
}

bool collectable(const claims& c, time_point now) {
  return c.idle() && now - c.idle_since > floor_life;
}

}  // namespace afar::engines::records
