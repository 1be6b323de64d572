#include "engines/records/barrier.hpp"

#include "engines/records/cells.hpp"
#include "engines/records/instant.hpp"

#include <algorithm>

namespace afar::engines::records {
namespace {

spi::status broken_status() {
  return {errc::broken,
          "somebody left or died before the barrier was full, or was not heard of for too long"};
}

void conclude(claims& c, bool broken, std::uint64_t token, const moment& m, effects& e) {
  for (const place& p : c.line) {
    c.verdicts.push_back({p.owner, broken, token, later(m.now, verdict_life(m))});
    e.call.push_back(p.owner);
  }
  c.line.clear();
  e.changed = true;
}

void trip(claims& c, const spi::claim& last, const moment& m, spi::acquire_reply& reply,
          effects& e) {
  c.last_token = std::max(c.last_token + 1, m.calendar_us);
  conclude(c, false, c.last_token, m, e);
  std::erase(e.call, last.owner);  // it has the answer in its hands
  (void)verdict_of(c, last, reply);
}

}  // namespace

std::optional<spi::status> verdict_of(const claims& c, const spi::claim& a,
                                      spi::acquire_reply& reply) {
  const auto v = std::ranges::find(c.verdicts, a.owner, &verdict::owner);
  if (v == c.verdicts.end()) return std::nullopt;
  if (v->broken) return broken_status();
  reply.granted = true;
  reply.token = reply.last_token = v->token;
  reply.lease = a.lease;
  return spi::status{};
}

spi::status arrive(claims& c, const spi::claim& a, const moment& m, spi::acquire_reply& reply,
                   effects& e) {
  const auto mine = std::ranges::find(c.line, a.owner, &place::owner);
  if (mine != c.line.end()) {
    e.changed = true;
    mine->until = later(m.now, m.waiter_lease);
    mine->session = m.session;
    if (a.queue) return {};
    c.line.erase(mine);
    break_generation(c, m, e);
    return {};
  }
  if (!a.place.empty()) return broken_status();
  if (!a.queue && c.line.size() + 1 < c.limit) return {};

  c.line.push_back({.owner = a.owner,
                    .session = m.session,
                    .mode = a.mode,
                    .permits = a.permits,
                    .since = m.now,
                    .until = later(m.now, m.waiter_lease),
                    .called = {},
                    .note = std::string{a.note}});
  e.changed = true;
  if (c.line.size() >= c.limit) trip(c, a, m, reply, e);
  return {};
}

void note_wait(spi::claim& a, const spi::acquire_reply& reply) {
  if (a.what.kind == spi::kind::barrier && a.queue && !reply.granted) a.place = "waits";
}

milliseconds verdict_life(const moment& m) { return std::max(m.waiter_lease, result_life); }

void break_generation(claims& c, const moment& m, effects& e) { conclude(c, true, 0, m, e); }

}  // namespace afar::engines::records
