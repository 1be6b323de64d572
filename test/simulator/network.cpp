#include "simulator/network.hpp"

#include <algorithm>
#include <utility>

namespace afar::test {

kept_claim::kept_claim(const spi::claim& c) : name(c.what.name), note(c.note), claim(c) {
  claim.what.name = name;
  claim.note = note;
}

std::chrono::microseconds server_clock::calendar() const noexcept {
  constexpr auto some_day = std::chrono::hours{24 * 365 * 50};
  return std::chrono::duration_cast<std::chrono::microseconds>(some_day + steps_ + world_.now());
}

// ---- the server ---------------------------------------------------------------------------------

simulated_server::simulated_server(world& w, const habits& h, grants_listener& l)
    : world_(w),
      habits_(h),
      listener_(l),
      clock_(std::make_shared<server_clock>(w)),
      store_(clock_) {}

spi::status simulated_server::acquire(const claim_copy& c, channel& from, spi::acquire_reply& r) {
  engines::memory::wakes out;
  auto s = store_.acquire(c->claim, r, out);
  world_.note(r.granted ? "server grants" : "server refuses", c->claim.owner.number, r.token);
  auto& newest = newest_[c->name];
  if (!s && r.granted) {
    lingering_.erase(c->name);
    if (c->claim.linger > 0ms) lingering_[c->name] = {c->claim.owner, from.weak_from_this()};
    newest = std::max(newest, r.last_token);
    line_.erase(engines::memory::claim_key(c->claim.owner, c->name));
    listener_.granted(c->claim, r);
  } else if (!s && habits_.pushes && c->claim.queue) {
    r.token = newest;  // what was pushed before is told from what is pushed from now on
    line_[r.watch_key] = {c, from.weak_from_this()};
  }
  if (!s && !r.granted) r.asked = ask_for(c->name, c->claim.owner);
  out.deliver();
  return s;
}

bool simulated_server::ask_for(const std::string& name, const spi::owner_id& by) {
  const auto at = lingering_.find(name);
  if (at == lingering_.end() || at->second.owner == by) return false;
  if (const auto to = at->second.of.lock()) to->client_asked(at->second.owner);
  return true;
}

spi::renew_reply simulated_server::renew(const spi::claim& c) {
  engines::memory::wakes out;
  const auto r = store_.renew(c, out);
  world_.note("server renews", c.owner.number, static_cast<std::uint64_t>(r.why));
  const auto at = lingering_.find(std::string(c.what.name));
  if (at != lingering_.end() && at->second.owner == c.owner && c.linger == 0ms)
    lingering_.erase(at);  // one like any other from now on
  out.deliver();
  return r;
}

spi::release_reply simulated_server::release(const spi::claim& c) {
  engines::memory::wakes out;
  line_.erase(engines::memory::claim_key(c.owner, c.what.name));
  const auto r = store_.release(c, out);
  world_.note("server releases", c.owner.number, static_cast<std::uint64_t>(r));
  out.deliver();
  return r;
}

spi::status simulated_server::change(const spi::cell_change& c, spi::cell_reply& r) {
  engines::memory::wakes out;
  auto s = store_.change(c, r, out);
  world_.note(r.applied ? "server changes" : "server does not change", c.id.owner.number,
              static_cast<std::uint64_t>(r.value));
  out.deliver();
  return s;
}

bool simulated_server::push(const std::string& key) {
  const auto at = line_.find(key);
  if (at == line_.end()) return false;
  const auto [claim, of] = at->second;
  const auto to = of.lock();
  if (!to) return false;
  spi::acquire_reply r;
  if (acquire(claim, *to, r) || !r.granted) return false;
  to->client_granted(claim->claim.owner, r);
  return true;
}

bool simulated_server::watch(const std::string& key, channel& c) {
  return store_.watch(key, c.ear);
}
void simulated_server::unwatch(const std::string& key, channel& c) { store_.unwatch(key, *c.ear); }
void simulated_server::forget(channel& c) { store_.forget(*c.ear); }

// ---- the way there and back -----------------------------------------------------------------------

channel::channel(world& w, const habits& h, simulated_server& s, spi::host& client)
    : ear(std::make_shared<engines::memory::listener>(*this)),
      world_(w),
      habits_(h),
      server_(s),
      client_(client),
      machine_(w.acting()) {}

nanoseconds channel::delay() {
  return world_.between(50us, world_.chance(habits_.slow_ones) ? habits_.slow : habits_.quick);
}

void channel::to_server(unsigned lost, detail::function<void()> f) {
  auto at = world_.now() + delay();
  if (world_.now() < cut_until_ || world_.chance(lost)) return world_.note("request lost");
  if (habits_.fifo) at = last_sent_ = std::max(at, last_sent_ + 1us);
  world_.at(at, world::nowhere, std::move(f));
}

void channel::to_client(unsigned lost, detail::function<void()> f) {
  const auto at = world_.now() + delay();
  if (!open_) return;
  if (world_.now() < cut_until_ || world_.chance(lost)) return world_.note("message lost");
  world_.at(at, machine_, [self = shared_from_this(), f = std::move(f)]() mutable {
    if (self->open_) f();
  });
}

void channel::end() {
  if (!std::exchange(open_, false)) return;
  server_.forget(*this);
  while (!calls.empty()) {
    const auto call = std::move(calls.begin()->second);
    calls.erase(calls.begin());
    world_.cancel(call->given_up);
    call->fail(errc::closed);
  }
}

void channel::wake(std::string_view key) noexcept {
  const std::string k(key);
  if (habits_.pushes && server_.push(k)) return;
  tell_client(k);
  if (world_.chance(habits_.woken_twice)) tell_client(k);
}

void channel::tell_client(const std::string& key) {
  to_client(habits_.unwoken, [this, key] {
    world_.note("woken");
    client_.wake(key);
  });
}

void channel::tell(void (*what)(spi::host&)) {
  to_client(0, [this, what] { what(client_); });
}

void channel::client_asked(const spi::owner_id& who) {
  to_client(habits_.unwoken, [this, who] {
    world_.note("asked for it", who.number);
    client_.asked(who);
  });
}

void channel::client_granted(const spi::owner_id& who, const spi::acquire_reply& r) {
  to_client(habits_.unwoken, [this, who, r] {
    world_.note("told of a grant", who.number, r.token);
    client_.granted(who, r.token, r.last_token, r.lease);
  });
}

}  // namespace afar::test
