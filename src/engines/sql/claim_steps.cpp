#include "engines/records/line.hpp"
#include "engines/sql/attempts.hpp"
#include "engines/sql/steps.hpp"
#include "engines/sql/told_grant.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

namespace afar::engines::sql {
namespace {

using namespace std::chrono_literals;
using spi::kind;

constexpr std::size_t longest_note = 1'024;

// In `claim::place`: others wait for the name, so a single statement will not do.
constexpr std::string_view crowded = "crowded";

records::moment moment_of(const row& r, std::uint64_t bell) {
  records::moment m;
  m.now = at_us(r.now_us);
  m.calendar_us = static_cast<std::uint64_t>(r.now_us);
  m.session = bell;
  m.waiter_lease = waiter_lease;
  m.grants = true;
  m.patience = 1s;  // who is called comes over several threads of a machine that may be busy
  return m;
}

news news_of(const records::effects& e, const records::claims& c,
             const std::vector<records::place>& line_before) {
  news n;
  n.any = !e.call.empty();
  n.shown = e.holders_changed;
  if (e.call.size() == 1) n.called = e.call[0].text();
  for (const records::direct_grant& g : e.grants)
    if (g.session != 0) n.calls.push_back({g.session, text_of(g)});
  for (const spi::owner_id& owner : e.call) {
    if (records::of_owner(e.grants, owner) != e.grants.end()) continue;
    for (const auto* line : {&c.line, &line_before}) {
      const auto at = std::ranges::find(*line, owner, &records::place::owner);
      if (at == line->end()) continue;
      if (at->session != 0) n.calls.push_back({at->session});
      break;
    }
  }
  each_once(n.calls);
  return n;
}

enum class use : std::uint8_t { claims_it, looks_after_it };

// Loads the claims of a name, applies `body` and stores what changed. What is in use as something else
// has no claims; to claim it is wrong use.
template <class Body, class Outrun>
spi::status on_claims(const desk& d, const spi::resource& what, use wanted, std::uint64_t bell,
                      Body body, Outrun outrun) {
  const auto step = [&](const row& before, row& after, news& n) -> verdict {
    const bool foreign = before.kind > static_cast<std::int64_t>(kind::election);
    if (foreign && wanted == use::claims_it)
      if (const auto used = used_as(before)) return {records::wrong_use(*used, {what.kind})};
    records::claims c = claims_of(before);
    const auto line = c.line;
    records::effects e;
    const records::moment m = moment_of(before, bell);
    spi::status s = body(c, before.exists && before.kind != 0 && !foreign, m, e, after);
    if (!e.changed) return {std::move(s)};
    put_claims(after, c);
    n = news_of(e, c, line);
    return {std::move(s), true};
  };
  return on_row(d, what.name, step, outrun);
}

template <class Body>
spi::status look_after(const desk& d, const spi::resource& what, std::uint64_t bell, Body body) {
  return on_claims(d, what, use::looks_after_it, bell, std::move(body), [] {});
}

// An owner as the tables have it.
class owner_text {
 public:
  explicit owner_text(const spi::owner_id& who) noexcept
      : size_(static_cast<std::size_t>(who.print(bytes_) - bytes_)) {}
  std::string_view view() const noexcept { return {bytes_, size_}; }

 private:
  char bytes_[spi::owner_id::longest_text];
  std::size_t size_;
};

bool one_at_a_time(const spi::claim& c) {
  return c.mode == spi::access::exclusive && !records::has_limit(c.what.kind);
}

// `say(statement, parameters ...)` runs it, or sends it ahead.
template <class Say>
auto taking(const desk& d, const spi::claim& c, Say say) {
  const owner_text owner{c.owner};
  return say(statement::take, c.what.name, static_cast<std::int64_t>(c.what.kind), owner.view(),
             us_of(c.lease), std::int64_t{c.handoffs}, c.note, end_of(d));
}

template <class Say>
auto giving(const spi::claim& c, Say say) {
  const owner_text owner{c.owner};
  return say(statement::give, c.what.name, owner.view());
}

auto ask_on(connection& on) {
  return [&](auto... all) { return on.ask(all...); };
}
auto tell_on(connection& on) {
  return [&](auto... all) { return on.tell(all...); };
}

spi::status check(const spi::claim& c) {
  if (auto refused = check_name(c.what.name)) return refused;
  if (c.note.size() > longest_note) return {errc::bad_argument, "a note has at most 1024 bytes"};
  return {};
}

// The common case in one statement: nobody has it, nobody waits, nobody watches.
bool take(const desk& d, const spi::claim& c, spi::acquire_reply& reply) {
  const answer a = insistently(d, [&] { return taking(d, c, ask_on(d.on)); });
  AFAR_FAULT("sql.take.answered");
  if (a.rows.empty()) return false;
  reply = {};
  reply.granted = true;
  reply.token = static_cast<std::uint64_t>(a.rows[0][0].number);
  reply.last_token = reply.token + c.handoffs;
  reply.lease = c.lease;
  return true;
}

// Gets in line behind a single holder in one statement: who loads and stores is outrun, again and
// again, by a client that takes and gives with one statement each.
class newcomer {
 public:
  newcomer(const desk& d, const spi::claim& c, std::uint64_t bell) : d_(d), c_(c), bell_(bell) {}

  // False: nobody else holds it alone, so everybody loads and stores.
  bool join() {
    if (joined_ || !c_.queue || c_.token != 0 || records::has_limit(c_.what.kind)) return joined_;
    const std::string arrival = arrival_of(c_, bell_);
    const owner_text owner{c_.owner};  // may hold it: the answer to its take was lost
    joined_ =
        insistently(d_, [&] {
          return d_.on.ask(statement::join, c_.what.name, static_cast<std::int64_t>(c_.what.kind),
                           std::string_view{arrival}, end_of(d_), owner.view());
        }).affected > 0;
    AFAR_FAULT("sql.join.answered");
    return joined_;
  }

  // Behind join(): true if there is nothing to do but wait.
  bool waits(spi::acquire_reply& reply, std::int64_t& rings) {
    const row now = load(d_.on, c_.what.name);
    records::claims all = claims_of(now);
    const auto mine = records::of_owner(all.line, c_.owner);
    if (mine == all.line.end() || mine->called != spi::time_point{}) return false;
    const records::moment m = moment_of(now, bell_);
    records::effects due;
    records::sweep(all, m, due);
    if (due.changed) return false;
    reply = {};
    reply.retry_after = records::retry_after(all, c_, m);
    reply.token = all.last_token;
    rings = now.rings;
    return true;
  }

 private:
  const desk& d_;
  const spi::claim& c_;
  const std::uint64_t bell_;
  bool joined_ = false;
};

bool extend(const desk& d, const spi::claim& c) {
  const owner_text owner{c.owner};
  return d.on.ask(statement::extend, c.what.name, owner.view(), us_of(c.lease),
                  static_cast<std::int64_t>(c.token), c.note)
             .affected > 0;
}

spi::renew_reply renew_one(const desk& d, const spi::claim& c) {
  spi::renew_reply reply;
  look_after(
      d, c.what, d.ear.bell_now(),
      [&](records::claims& r, bool, const records::moment& m, records::effects& e, const row&) {
        reply = records::renew(r, c, m, e);
        return spi::status{};
      });
  return reply;
}

}  // namespace

std::optional<statement> opening_of_acquire(const spi::claim& c) noexcept {
  const bool fresh = c.token == 0 && c.place.empty();
  return fresh && one_at_a_time(c) ? std::optional{statement::take} : std::nullopt;
}

std::optional<statement> opening_of_release(const spi::claim& c) noexcept {
  return c.place.empty() && one_at_a_time(c) ? std::optional{statement::give} : std::nullopt;
}

sent send_opening_of_acquire(const desk& d, const spi::claim& c) {
  return check(c) ? sent::nothing : taking(d, c, tell_on(d.on));
}

sent send_opening_of_release(const desk& d, const spi::claim& c) {
  AFAR_FAULT("sql.release.before_send");
  return giving(c, tell_on(d.on));
}

spi::status acquire(const desk& d, spi::claim& c, spi::acquire_reply& reply) {
  if (auto refused = check(c)) return refused;
  const bool quick = opening_of_acquire(c).has_value();
  if (quick && take(d, c, reply)) return {};

  const std::uint64_t bell = c.queue ? d.ear.bell_soon() : 0;
  const std::uint64_t heard = d.ear.rings_heard();
  newcomer comes{d, c, bell};
  std::int64_t rings = 0;
  bool others = false;
  const auto attempt = [&](records::claims& r, bool exists, const records::moment& m,
                           records::effects& e, const row& now) {
    if (!exists) {
      const auto floor = r.last_token;
      r = records::fresh_claims(c);
      r.last_token = floor;
    }
    spi::status failed = records::acquire(r, c, m, reply, e);
    if (!reply.granted) reply.token = r.last_token;  // what it is told of later has a larger one
    others = !r.line.empty();
    rings = now.rings + (e.call.empty() ? 0 : 1);
    return failed;
  };
  spi::status s;
  if (!quick || !comes.join() || !comes.waits(reply, rings))
    s = on_claims(d, c.what, use::claims_it, bell, attempt, [&] { comes.join(); });
  const bool waits = !s && c.queue && !reply.granted && reply.why == spi::loss::none;
  // Of a barrier it says that this one waits, and nothing else (records/barrier.hpp).
  const bool is_crowded = others && c.what.kind != spi::kind::barrier;
  c.place = waits || is_crowded ? crowded : std::string_view{};
  if (!waits) return s;
  reply.watch_key = claim_key(c.owner, c.what.name);
  d.ear.expect(reply.watch_key, rings, heard, bell);
  return s;
}

spi::status release(const desk& d, const spi::claim& c, spi::release_reply& reply) {
  d.ear.forget(c.owner, c.what.name);
  AFAR_FAULT("sql.release.before_send");
  if (opening_of_release(c)) {
    const answer a = insistently(d, [&] { return giving(c, ask_on(d.on)); });
    reply = spi::release_reply::released;
    if (a.affected > 0) return {};
  }
  return look_after(
      d, c.what, 0,
      [&](records::claims& r, bool, const records::moment& m, records::effects& e, const row&) {
        reply = records::release(r, c.owner, m, e);
        return spi::status{};
      });
}

spi::status evict(const desk& d, const spi::resource& what, const spi::owner_id& owner,
                  std::uint64_t token, spi::release_reply& reply) {
  return look_after(
      d, what, 0,
      [&](records::claims& r, bool, const records::moment& m, records::effects& e, const row&) {
        reply = records::evict(r, owner, token, m, e);
        return spi::status{};
      });
}

// Those that one statement can renew go in one transaction, because a commit costs more than all of
// them; in the order of their names, so that two clients never wait for each other.
void renew(const desk& d, std::span<spi::claim* const> claims,
           std::span<spi::renew_reply> replies) {
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return claims[i]->what.name; });
  std::vector<std::size_t> rest;
  const auto all = [&] {
    rest.clear();
    for (const std::size_t i : order) {
      const spi::claim& c = *claims[i];
      if (c.place.empty() && one_at_a_time(c) && extend(d, c))
        replies[i] = {.lease = c.lease};
      else
        rest.push_back(i);
    }
  };
  AFAR_FAULT("sql.renew.before_send");
  insistently(d, [&] {
    if (claims.size() == 1) return all();
    transaction t{d.on};
    all();
    t.commit();
  });
  for (const std::size_t i : rest) replies[i] = renew_one(d, *claims[i]);
}

}  // namespace afar::engines::sql
