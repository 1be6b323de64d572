#include "engines/embedded/steps.hpp"
#include "engines/embedded/stored.hpp"
#include "engines/records/barrier.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t longest_name = 1'024;
constexpr std::size_t longest_note = 1'024;

// Where a test can kill or stop the process; see afar/detail/fault.hpp.
struct fault_points {
  [[maybe_unused]] const char* begin;
  [[maybe_unused]] const char* before_commit;
  [[maybe_unused]] const char* after_commit;
  [[maybe_unused]] const char* after_ring;
};

constexpr fault_points in_acquire{"embedded.acquire.begin", "embedded.acquire.before_commit",
                                  "embedded.acquire.after_commit", "embedded.acquire.after_ring"};
constexpr fault_points in_renew{"embedded.renew.begin", "embedded.renew.before_commit",
                                "embedded.renew.after_commit", "embedded.renew.after_ring"};
constexpr fault_points in_release{"embedded.release.begin", "embedded.release.before_commit",
                                  "embedded.release.after_commit", "embedded.release.after_ring"};
constexpr fault_points in_evict{"embedded.evict.begin", "embedded.evict.before_commit",
                                "embedded.evict.after_commit", "embedded.evict.after_ring"};

// Reused by every step of a thread, so that lists and notes keep their memory: what the last step
// left in the claims is overwritten or dropped when the record is loaded. Not used across ring(): a
// wake may lead to another step on this thread.
struct scratch {
  records::claims claims;
  records::effects effects;

  static scratch& fresh() {
    static thread_local scratch mine;
    mine.effects.call.clear();
    mine.effects.changed = mine.effects.holders_changed = false;
    return mine;
  }
};

// Loads a name's claims, applies `body` and saves what changed. Inside the gate.
template <class Body>
spi::status apply(environment& env, const spi::resource& what, const records::moment& now,
                  scratch& mine, [[maybe_unused]] const fault_points& points, Body& body) {
  stored<records::claims> record{env, what.name, what.kind, now.calendar_us, mine.claims};
  spi::status failed = body(mine.claims, record.exists(), now, mine.effects);
  if (mine.effects.changed) record.save(mine.claims, [&] { AFAR_FAULT(points.before_commit); });
  return failed;
}

void ring(store& in, const site& at, scratch& mine,
          [[maybe_unused]] const fault_points& points) noexcept {
  AFAR_FAULT(points.after_commit);
  records::effects whom;
  whom.holders_changed = mine.effects.holders_changed;
  if (!mine.effects.call.empty()) whom.call = std::exchange(mine.effects.call, {});
  in.ring(at, whom);
  AFAR_FAULT(points.after_ring);
}

template <class Body>
spi::status on_claims(store& in, const spi::resource& what, spi::time_point by,
                      const fault_points& points, Body&& body) {
  if (auto refused = check_name(what.name)) return refused;
  const site at{what.name};
  scratch& mine = scratch::fresh();
  AFAR_FAULT(points.begin);
  spi::status failed = in.step(at.shard(), by, [&](environment& env, const records::moment& now) {
    return apply(env, what, now, mine, points, body);
  });
  ring(in, at, mine, points);
  return failed;
}

}  // namespace

spi::status check_name(std::string_view name) {
  if (!name.empty() && name.size() <= longest_name) return {};
  return {errc::bad_argument, "a name has 1 to 1024 bytes"};
}

spi::status acquire(store& in, spi::claim& c, spi::time_point by, spi::acquire_reply& reply) {
  if (c.note.size() > longest_note) return {errc::bad_argument, "a note has at most 1024 bytes"};
  spi::status failed = on_claims(
      in, c.what, by, in_acquire,
      [&](records::claims& r, bool exists, const records::moment& now, records::effects& e) {
        if (!exists) r = records::fresh_claims(c);
        spi::status s = records::acquire(r, c, now, reply, e);
        if (!s && c.queue && !reply.granted) in.bell().expect(site{c.what.name}.bucket(c.owner));
        return s;
      });
  if (!failed && c.queue && !reply.granted && reply.why == spi::loss::none)
    reply.watch_key = watch_key(c.what.name, c.owner);
  if (!failed) records::note_wait(c, reply);
  return failed;
}

spi::status release(store& in, const spi::claim& c, spi::time_point by, spi::release_reply& reply) {
  return on_claims(in, c.what, by, in_release,
                   [&](records::claims& r, bool, const records::moment& now, records::effects& e) {
                     reply = records::release(r, c.owner, now, e);
                     return spi::status{};
                   });
}

spi::status evict(store& in, const spi::resource& what, const spi::owner_id& owner,
                  std::uint64_t token, spi::time_point by, spi::release_reply& reply) {
  return on_claims(in, what, by, in_evict,
                   [&](records::claims& r, bool, const records::moment& now, records::effects& e) {
                     reply = records::evict(r, owner, token, now, e);
                     return spi::status{};
                   });
}

void renew(store& in, std::span<spi::claim* const> claims, spi::time_point by,
           std::span<spi::renew_reply> replies, std::span<spi::status> failures) {
  std::vector<site> sites;
  for (const spi::claim* c : claims) sites.emplace_back(c->what.name);
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair{sites[i].shard(), i}; });

  for (auto first = order.begin(); first != order.end();) {
    const std::size_t shard = sites[*first].shard();
    const auto last =
        std::find_if(first, order.end(), [&](std::size_t i) { return sites[i].shard() != shard; });
    const std::span<const std::size_t> group{first, last};
    std::vector<std::pair<std::size_t, records::effects>> bells;
    AFAR_FAULT(in_renew.begin);
    const auto one = [&](environment& env, const records::moment& now, std::size_t i) {
      scratch& mine = scratch::fresh();
      auto body = [&](records::claims& r, bool, const records::moment& m, records::effects& e) {
        replies[i] = records::renew(r, *claims[i], m, e);
        return spi::status{};
      };
      failures[i] = caught([&] { return apply(env, claims[i]->what, now, mine, in_renew, body); });
      if (mine.effects.holders_changed || !mine.effects.call.empty())
        bells.emplace_back(i, std::exchange(mine.effects, {}));
    };
    const spi::status failed =
        in.step(shard, by, [&](environment& env, const records::moment& now) -> spi::status {
          for (const std::size_t i : group) one(env, now, i);
          return {};
        });
    for (const std::size_t i : group)
      if (failed) failures[i] = failed;
    AFAR_FAULT(in_renew.after_commit);
    for (const auto& [i, whom] : bells) in.ring(sites[i], whom);
    AFAR_FAULT(in_renew.after_ring);
    first = last;
  }
}

}  // namespace afar::engines::embedded
