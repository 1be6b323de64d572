// Claims in Redisson's layout. Barriers, which Redisson does not have, are afar's.
#include "engines/redis/claim_answers.hpp"
#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/steps.hpp"
#include "engines/redis/subscriber.hpp"

#include <string>
#include <utility>

namespace afar::engines::redis {
namespace {

using spi::access;
using spi::kind;

// Every permit is a member of a sorted set: more would hold up the server.
constexpr std::uint32_t most_permits = 1'000;

// Where Redisson tells the waiters of a kind.
std::string channel_of(kind k, std::string_view name) {
  if (k == kind::shared_mutex) return layout::rwlock_channel(name);
  if (k == kind::permits) return layout::cell_channel(kind::semaphore, name);
  return layout::lock_channel(name);
}

std::string line_of(kind k, std::string_view name) {
  return k == kind::fair_mutex ? layout::fair_line_key(name) : layout::line_key(name);
}

std::string reading_key(std::string_view name, const std::string& owner) {
  return layout::read_lease_key(name, owner);
}
std::string writing_key(std::string_view name, const std::string& owner) {
  return layout::read_lease_key(name, owner + ":write");
}

// The keys of a claim that only its kind has.
struct own_keys {
  std::string first;
  std::string second;
};
own_keys keys_of(kind k, std::string_view name, const std::string& owner) {
  if (k == kind::shared_mutex) return {reading_key(name, owner), writing_key(name, owner)};
  if (k == kind::permits) return {layout::permit_timeouts_key(name), layout::permits_key(name)};
  return {layout::fair_line_key(name), layout::fair_timeouts_key(name)};
}

char mode_of(const spi::claim& a) noexcept { return a.mode == access::shared ? 's' : 'x'; }

// The keys with which all scripts that acquire begin.
arguments acquire_words(request& r, const script& code, std::string_view name, kind k,
                        std::size_t more_keys, std::size_t others) {
  arguments out{r, code, 7 + more_keys, others};
  out.add(layout::name_key(name))
      .add(layout::token_key(name))
      .add(layout::past_key(name))
      .add(layout::cell_key(name))
      .add(layout::queue_key(name))
      .add(line_of(k, name))
      .add(layout::places_key(name));
  return out;
}

void lock_words(request& r, const spi::claim& a, const std::string& owner) {
  const std::string_view name = a.what.name;
  acquire_words(r, scripts::redisson::lock, name, a.what.kind, 1, 9)
      .add(layout::fair_timeouts_key(name))
      .add(owner)
      .add(letter(a.what.kind))
      .add(a.lease)
      .add(place_time(a))
      .add(std::int64_t{a.handoffs})
      .add(a.token)
      .add(layout::watchers_channel(a.what.kind, name))
      .add(a.note)
      .add(layout::lock_channel(name));
}

void rwlock_words(request& r, const spi::claim& a, const std::string& owner) {
  const std::string_view name = a.what.name;
  acquire_words(r, scripts::redisson::rwlock, name, a.what.kind, 2, 9)
      .add(reading_key(name, owner))
      .add(writing_key(name, owner))
      .add(owner)
      .add(mode_of(a))
      .add(a.lease)
      .add(place_time(a))
      .add(std::int64_t{a.handoffs})
      .add(a.token)
      .add(layout::rwlock_channel(name))
      .add(layout::read_lease_base(name))
      .add(a.note);
}

void permits_words(request& r, const spi::claim& a, const std::string& owner) {
  const std::string_view name = a.what.name;
  acquire_words(r, scripts::redisson::permits, name, a.what.kind, 2, 7)
      .add(layout::permit_timeouts_key(name))
      .add(layout::permits_key(name))
      .add(owner)
      .add(std::int64_t{a.permits})
      .add(std::int64_t{a.limit})
      .add(a.lease)
      .add(place_time(a))
      .add(channel_of(kind::permits, name))
      .add(a.note);
}

std::unique_ptr<request> acquire(spi::claim& a, const telling& how, spi::time_point by,
                                 spi::done<spi::acquire_reply> done) {
  if (a.what.kind == kind::barrier) return acquire_request(a, how, by, std::move(done));
  auto bad = bad_use(a);
  if (!bad && a.permits > most_permits)
    bad = {errc::bad_argument,
           "more than " + std::to_string(most_permits) + " permits at once, in Redisson's layout"};
  if (bad) {
    done(std::move(bad), {});
    return nullptr;
  }
  const std::string owner = a.owner.text();
  const bool fair = a.what.kind == kind::fair_mutex;
  auto r = acquiring(a,
                     subscriber::channel_key(fair ? layout::fair_channel(a.what.name, owner)
                                                  : channel_of(a.what.kind, a.what.name)),
                     by, std::move(done));
  if (a.what.kind == kind::shared_mutex)
    rwlock_words(*r, a, owner);
  else if (a.what.kind == kind::permits)
    permits_words(*r, a, owner);
  else
    lock_words(*r, a, owner);
  return r;
}

std::unique_ptr<request> release(const spi::claim& a, const telling& how, spi::time_point by,
                                 spi::done<spi::release_reply> done) {
  const kind k = a.what.kind;
  if (k == kind::barrier) return release_request(a, how, by, std::move(done));
  const std::string_view name = a.what.name;
  const std::string owner = a.owner.text();
  const own_keys own = keys_of(k, name, owner);
  auto r = releasing(by, std::move(done));
  r->may_linger = true;
  const auto begin = [&](const script& code, std::size_t keys, std::size_t others) {
    arguments out{*r, code, keys, others};
    out.add(layout::name_key(name)).add(line_of(k, name)).add(layout::places_key(name));
    return out;
  };
  if (k == kind::shared_mutex)
    begin(scripts::redisson::unlock_rwlock, 5, 3)
        .add(own.first)
        .add(own.second)
        .add(owner)
        .add(channel_of(k, name))
        .add(layout::read_lease_base(name));
  else if (k == kind::permits)
    begin(scripts::redisson::unlock_permits, 5, 3)
        .add(own.first)
        .add(own.second)
        .add(owner)
        .add(std::int64_t{a.permits})
        .add(channel_of(k, name));
  else
    begin(scripts::redisson::unlock, 4, 4)
        .add(own.second)
        .add(owner)
        .add(letter(k))
        .add(channel_of(k, name))
        .add(layout::watchers_channel(k, name));
  return r;
}

std::unique_ptr<request> evict(const spi::resource& what, const spi::owner_id& whom,
                               std::uint64_t token, const telling& how, spi::time_point by,
                               spi::done<spi::release_reply> done) {
  if (what.kind == kind::barrier) return evict_request(what, whom, token, how, by, std::move(done));
  const std::string_view name = what.name;
  const std::string owner = whom.text();
  auto r = releasing(by, std::move(done));
  arguments{*r, scripts::redisson::evict, 8, 7}
      .add(layout::name_key(name))
      .add(layout::token_key(name))
      .add(layout::past_key(name))
      .add(layout::fair_line_key(name))
      .add(reading_key(name, owner))
      .add(writing_key(name, owner))
      .add(layout::permit_timeouts_key(name))
      .add(layout::permits_key(name))
      .add(owner)
      .add(token)
      .add(channel_of(kind::permits, name))
      .add(channel_of(kind::shared_mutex, name))
      .add(channel_of(kind::mutex, name))
      .add(layout::watchers_channel(what.kind, name))
      .add(layout::read_lease_base(name));
  return r;
}

std::unique_ptr<request> renew(std::span<spi::claim* const> claims, std::size_t first,
                               std::shared_ptr<spi::renewed> each, spi::time_point by) {
  auto r = renewing(claims, first, std::move(each), by);
  arguments to{*r, scripts::redisson::renew, 6 * claims.size(), 9 * claims.size()};
  for (const spi::claim* a : claims) {
    const std::string_view name = a->what.name;
    const own_keys own = keys_of(a->what.kind, name, a->owner.text());
    to.add(layout::name_key(name))
        .add(layout::token_key(name))
        .add(layout::past_key(name))
        .add(layout::places_key(name))
        .add(own.first)
        .add(own.second);
  }
  for (const spi::claim* a : claims)
    to.add(a->owner.text())
        .add(letter(a->what.kind))
        .add(mode_of(*a))
        .add(a->lease)
        .add(waiter_lease(*a))
        .add(std::int64_t{a->permits})
        .add(a->token)
        .add(layout::watchers_channel(a->what.kind, a->what.name))
        .add(a->note);
  return r;
}

void survey(request& r, std::string_view name, std::string_view family) {
  arguments{r, scripts::redisson::survey, 10, 2}
      .add(layout::name_key(name))
      .add(layout::queue_key(name))
      .add(layout::token_key(name))
      .add(layout::cell_key(name))
      .add(layout::line_key(name))
      .add(layout::places_key(name))
      .add(layout::fair_line_key(name))
      .add(layout::fair_timeouts_key(name))
      .add(layout::permit_timeouts_key(name))
      .add(layout::permits_key(name))
      .add(family)
      .add(layout::read_lease_base(name));
}

}  // namespace

const claim_steps redisson_steps{acquire, release, evict, renew, nullptr, survey};

}  // namespace afar::engines::redis
