#include "engines/redis/steps.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/subscriber.hpp"

#include <algorithm>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;
using spi::access;
using spi::kind;

char mode_of(const spi::claim& a) noexcept {
  if (a.what.kind == kind::permits) return 'p';
  if (a.what.kind == kind::barrier) return 'b';
  return a.mode == access::shared ? 's' : 'x';
}

spi::milliseconds place_time(const spi::claim& a) noexcept {
  return a.queue ? waiter_lease(a) : 0ms;
}

spi::status odd() { return {errc::damaged, "an answer that makes no sense"}; }

spi::status read(const reply& r, const spi::claim& a, const std::string& watch_key,
                 spi::acquire_reply& out) {
  if (r.failed()) return failure_of(r, {a.what.kind, a.limit});
  const auto outcome = r.at(0).integer();
  if (outcome == 2) {
    out.why = r.at(1).text == "evicted" ? spi::loss::evicted : spi::loss::expired;
    return {};
  }
  const auto first = r.at(1).integer();
  if (!outcome || !first || *first < 0) return odd();
  if (*outcome == 1) {
    out.granted = true;
    out.token = static_cast<std::uint64_t>(*first);
    out.last_token = static_cast<std::uint64_t>(r.at(2).integer().value_or(*first));
    out.lease = a.lease;
    return {};
  }
  out.token = static_cast<std::uint64_t>(r.at(2).integer().value_or(0));
  out.watch_key = watch_key;
  out.retry_after = std::max<spi::milliseconds>(spi::milliseconds{*first}, 1ms);
  return {};
}

spi::status bad_use(const spi::claim& a) {
  if (records::has_limit(a.what.kind) && a.limit == 0) return {errc::bad_argument, "a limit of 0"};
  if (a.what.kind == kind::permits && (a.permits == 0 || a.permits > a.limit))
    return {errc::bad_argument,
            std::to_string(a.permits) + " permits of " + std::to_string(a.limit)};
  if (a.note.size() > 1'024) return {errc::bad_argument, "a note has at most 1024 bytes"};
  return {};
}

auto released(spi::done<spi::release_reply> done) {
  return [done = std::move(done)](spi::status s, reply r) mutable {
    if (!s && r.failed()) s = failure_of(r);
    const bool ended = r.integer().value_or(0) != 0;
    done(std::move(s), ended ? spi::release_reply::released : spi::release_reply::gone);
  };
}

}  // namespace

spi::milliseconds waiter_lease(const spi::claim& a) noexcept {
  return std::min<spi::milliseconds>(a.lease, 3s);
}

std::unique_ptr<request> acquire_request(const spi::claim& a, const telling& how,
                                         spi::time_point by, spi::done<spi::acquire_reply> done) {
  if (auto bad = bad_use(a)) {
    done(std::move(bad), {});
    return nullptr;
  }
  const std::string owner = a.owner.text();
  const std::string_view name = a.what.name;
  const std::string watchers = layout::watchers_channel(a.what.kind, name, how.announces);
  auto key = how.announces ? subscriber::channel_key(watchers) : subscriber::owner_key(owner);
  auto r = make_request(
      by, [&a, key = std::move(key), done = std::move(done)](spi::status s, reply got) mutable {
        spi::acquire_reply out;
        if (!s) s = read(got, a, key, out);
        done(std::move(s), std::move(out));
      });
  if (a.what.kind == kind::barrier) {
    arguments{*r, scripts::arrive, 5, 5}
        .add(layout::name_key(name))
        .add(layout::queue_key(name))
        .add(layout::token_key(name))
        .add(layout::past_key(name))
        .add(layout::cell_key(name))
        .add(owner)
        .add(place_time(a))
        .add(std::int64_t{a.limit})
        .add(how.channel)
        .add(a.note);
    return r;
  }
  arguments{*r, scripts::acquire, 5, 12}
      .add(layout::name_key(name))
      .add(layout::queue_key(name))
      .add(layout::token_key(name))
      .add(layout::past_key(name))
      .add(layout::cell_key(name))
      .add(owner)
      .add(letter(a.what.kind))
      .add(mode_of(a))
      .add(a.lease)
      .add(place_time(a))
      .add(std::int64_t{a.permits})
      .add(std::int64_t{a.limit})
      .add(how.channel)
      .add(std::int64_t{a.handoffs})
      .add(a.token)
      .add(watchers)
      .add(a.note);
  return r;
}

std::unique_ptr<request> release_request(const spi::claim& a, const telling& how,
                                         spi::time_point by, spi::done<spi::release_reply> done) {
  const std::string_view name = a.what.name;
  auto r = make_request(by, released(std::move(done)));
  if (a.what.kind == kind::barrier) {
    arguments{*r, scripts::leave, 2, 1}
        .add(layout::queue_key(name))
        .add(layout::past_key(name))
        .add(a.owner.text());
    return r;
  }
  arguments{*r, scripts::release, 3, 2}
      .add(layout::name_key(name))
      .add(layout::queue_key(name))
      .add(layout::token_key(name))
      .add(a.owner.text())
      // What never was a hold is withdrawn in silence: who hears of it would only try in vain.
      .add(layout::watchers_channel(a.what.kind, name, how.announces && a.token != 0));
  return r;
}

std::unique_ptr<request> evict_request(const spi::resource& what, const spi::owner_id& owner,
                                       std::uint64_t token, const telling& how, spi::time_point by,
                                       spi::done<spi::release_reply> done) {
  auto r = make_request(by, released(std::move(done)));
  arguments{*r, scripts::evict, 4, 3}
      .add(layout::name_key(what.name))
      .add(layout::queue_key(what.name))
      .add(layout::token_key(what.name))
      .add(layout::past_key(what.name))
      .add(owner.text())
      .add(token)
      .add(layout::watchers_channel(what.kind, what.name, how.announces));
  return r;
}

std::unique_ptr<request> renew_request(std::span<spi::claim* const> claims, std::size_t first,
                                       std::shared_ptr<spi::renewed> each, spi::time_point by) {
  std::vector<spi::milliseconds> leases;
  for (const spi::claim* a : claims) leases.push_back(a->lease);
  auto r = make_request(by, [leases = std::move(leases), first, each = std::move(each)](
                                spi::status s, reply got) mutable {
    if (!s && got.failed()) s = failure_of(got);
    if (!s && got.items.size() != leases.size()) s = odd();
    for (std::size_t i = 0; i < leases.size(); ++i) {
      spi::renew_reply out;
      const auto outcome = got.at(i).integer().value_or(0);
      if (outcome == 1) out.lease = leases[i];
      if (outcome != 1) out.why = outcome < 0 ? spi::loss::evicted : spi::loss::expired;
      (*each)(first + i, s, out);
    }
  });
  arguments to{*r, scripts::renew, 4 * claims.size(), 8 * claims.size()};
  for (const spi::claim* a : claims)
    to.add(layout::name_key(a->what.name))
        .add(layout::queue_key(a->what.name))
        .add(layout::token_key(a->what.name))
        .add(layout::past_key(a->what.name));
  for (const spi::claim* a : claims)
    to.add(a->owner.text())
        .add(letter(a->what.kind))
        .add(mode_of(*a))
        .add(a->lease)
        .add(waiter_lease(*a))
        .add(a->token)
        .add(layout::watchers_channel(a->what.kind, a->what.name))
        .add(a->note);
  return r;
}

}  // namespace afar::engines::redis
