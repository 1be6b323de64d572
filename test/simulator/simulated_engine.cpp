#include "simulator/simulated_engine.hpp"

#include <string>
#include <utility>
#include <vector>

namespace afar::test {
namespace {

template <class Reply>
struct call_of final : open_call {
  explicit call_of(spi::done<Reply> d) : done(std::move(d)) {}
  void fail(spi::status s) override { done(std::move(s), Reply{}); }
  spi::done<Reply> done;
};

// Ends a call once: whoever is first of the answer, the end of its time and the end of the client.
template <class Reply>
void settle(channel& way, std::uint64_t number, spi::status s, Reply r) {
  const auto at = way.calls.find(number);
  if (at == way.calls.end()) return;
  const auto call = std::move(at->second);
  way.calls.erase(at);
  way.where().cancel(call->given_up);
  static_cast<call_of<Reply>&>(*call).done(std::move(s), std::move(r));
}

}  // namespace

simulated_engine::simulated_engine(std::shared_ptr<channel> way, const spi::traits& t)
    : way_(std::move(way)), traits_(t) {}

spi::traits simulated_engine::traits_of(const habits& h) {
  return {.name = "simulated",
          .token_block = 8,
          .sticky_block = 500,
          .try_time = 500ms,
          .pushes_grants = h.pushes,
          .inline_steps = h.at_once,
          .ordered = h.relied_on,
          .mutex_is_writer = true};
}

template <class Reply, class Step>
void simulated_engine::ask_at_once(spi::done<Reply>& done, Step& step) {
  auto& w = way_->where();
  if (w.chance(way_->way().refused)) return done(errc::unavailable, {});
  Reply reply{};
  auto s = w.chance(way_->way().lost) ? spi::status{errc::unknown_outcome} : step(reply);
  if (w.chance(way_->way().unanswered)) return done(errc::unknown_outcome, {});
  done(std::move(s), std::move(reply));
}

template <class Reply, class Step>
void simulated_engine::ask(spi::time_point by, spi::done<Reply> done, Step step) {
  if (!way_->open()) return done(errc::closed, {});
  if (way_->way().at_once) return ask_at_once(done, step);
  auto& w = way_->where();
  const auto number = way_->next_call++;
  const auto call = std::make_shared<call_of<Reply>>(std::move(done));
  way_->calls.emplace(number, call);
  const auto fail = [way = way_, number](errc why) {
    return [way, number, why] { settle<Reply>(*way, number, why, {}); };
  };
  if (w.chance(way_->way().refused)) {
    call->given_up = w.after(w.between(0ns, 5ms), way_->machine(), fail(errc::unavailable));
    return;
  }
  // Some connections break and say so, others are silent until nobody waits any more.
  const auto until = w.when(way_->machine(), by);
  const bool breaks = w.chance(way_->way().lost + way_->way().unanswered);
  const auto given_up = breaks ? std::min(until, w.now() + w.between(1ms, 200ms)) : until;
  call->given_up = w.at(given_up, way_->machine(),
                        fail(given_up < until ? errc::unknown_outcome : errc::timed_out));
  way_->to_server(way_->way().lost, [way = way_, number, step = std::move(step)]() mutable {
    Reply reply{};
    auto s = step(reply);
    way->to_client(way->way().unanswered,
                   [way, number, s, reply] { settle<Reply>(*way, number, s, reply); });
  });
}

void simulated_engine::acquire(spi::claim& c, spi::time_point by,
                               spi::done<spi::acquire_reply> done) {
  way_->where().note("asks", c.owner.number);
  ask<spi::acquire_reply>(by, std::move(done),
                          [way = way_, copy = std::make_shared<kept_claim>(c)](auto& reply) {
                            return way->server().acquire(copy, *way, reply);
                          });
}

void simulated_engine::renew(std::span<spi::claim* const> claims, spi::time_point by,
                             spi::renewed each) {
  std::vector<claim_copy> copies;
  copies.reserve(claims.size());
  for (const auto* c : claims) copies.push_back(std::make_shared<kept_claim>(*c));
  const auto count = copies.size();
  using replies = std::vector<spi::renew_reply>;
  ask<replies>(
      by,
      [each = std::move(each), count](const spi::status& s, replies r) mutable {
        r.resize(count);
        for (std::size_t i = 0; i < count; ++i) each(i, s, r[i]);
      },
      [way = way_, copies = std::move(copies)](replies& out) {
        out.reserve(copies.size());
        for (const auto& c : copies) out.push_back(way->server().renew(c->claim));
        return spi::status{};
      });
}

void simulated_engine::release(const spi::claim& c, spi::time_point by,
                               spi::done<spi::release_reply> done) {
  way_->where().note("gives back", c.owner.number);
  ask<spi::release_reply>(by, std::move(done),
                          [way = way_, copy = std::make_shared<kept_claim>(c)](auto& reply) {
                            reply = way->server().release(copy->claim);
                            return spi::status{};
                          });
}

// The end of a watch is at once: what is under way then finds nobody.
void simulated_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  auto& w = way_->where();
  const auto by = w.clock(way_->machine()) + 2s;
  ask<spi::watch_reply>(by, std::move(done),
                        [way = way_, key = std::string(key)](spi::watch_reply& reply) {
                          reply.recheck = !way->open() || way->server().watch(key, *way);
                          return spi::status{};
                        });
}

void simulated_engine::unwatch(std::string_view key) noexcept {
  way_->server().unwatch(std::string(key), *way_);
}

void simulated_engine::change(const spi::cell_change& c, spi::time_point by,
                              spi::done<spi::cell_reply> done) {
  ask<spi::cell_reply>(by, std::move(done),
                       [way = way_, c, name = std::string(c.what.name)](auto& reply) {
                         auto copy = c;
                         copy.what.name = name;
                         return way->server().change(copy, reply);
                       });
}
bool simulated_engine::drive(spi::waiter& w, spi::time_point until) noexcept {
  way_->where().sleep_until(until, [&w] { return w.ready(); });
  return false;
}

void simulated_engine::record(const spi::ledger_change&, spi::time_point,
                              spi::done<spi::ledger_reply> done) {
  done(errc::unsupported, {});
}
void simulated_engine::survey(const spi::survey_query&, spi::time_point,
                              spi::done<spi::survey_reply> done) {
  done(errc::unsupported, {});
}
void simulated_engine::evict(const spi::resource&, const spi::owner_id&, std::uint64_t,
                             spi::time_point, spi::done<spi::release_reply> done) {
  done(errc::unsupported, {});
}

}  // namespace afar::test
