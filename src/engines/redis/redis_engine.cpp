#include "engines/redis/redis_engine.hpp"

#include "engines/redis/cluster.hpp"
#include "engines/redis/collect.hpp"
#include "engines/redis/escaped_names.hpp"
#include "engines/redis/examine.hpp"
#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/one_server.hpp"
#include "engines/redis/redis.hpp"
#include "engines/redis/replication.hpp"
#include "engines/redis/steps.hpp"
#include "engines/redis/survey_steps.hpp"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t claims_per_request = 128;  // a longer script would hold up the server

// The engine's own: it must be heard before the first claim says who its client is.
std::string new_channel() {
  std::uint64_t bits[2] = {};
  if (::getrandom(bits, sizeof bits, 0) != sizeof bits)
    throw lock_error{errc::unavailable, "redis", "the kernel gives no random numbers"};
  const std::string text = spi::owner_id{bits[0], bits[1], 0}.text();
  return layout::client_channel(text.substr(0, text.find(':')));
}

std::string_view why_not_sticky(const claim_steps& how, const target& to) {
  if (to.voter) return "a quorum cannot be asked for something back";
  if (to.topology != topology::single)
    return "where another server may take over, every token is read off the clock";
  if (to.replication != replication::none) return "every grant is to be confirmed by replicas";
  if (&how != &afar_steps) return "other libraries do not ask for a lock back (layout=redisson)";
  return {};
}

spi::traits traits_of(const claim_steps& how, const target& to) {
  spi::traits t;
  t.name = "redis";
  t.token_block = 64;
  t.why_not_sticky = why_not_sticky(how, to);
  if (t.why_not_sticky.empty()) t.sticky_block = 1U << 19;
  t.waiter_lease = 3s;
  t.ordered = true;  // one connection
  t.pushes_grants = to.pushes_grants;
  t.fifo = &how == &afar_steps;  // Java's waiters know of no line
  return t;
}

// A grant that must be confirmed by replicas, or by other voters, is not one when it is told.
target completed(target to, const claim_steps& how) {
  to.pushes_grants = &how == &afar_steps && to.replication == replication::none && !to.voter;
  return to;
}

std::shared_ptr<servers> servers_of(const std::shared_ptr<io>& thread, const target& to,
                                    const std::shared_ptr<visits>& v, spi::host& up,
                                    const std::string& channel,
                                    const std::shared_ptr<acquaintance>& met) {
  const auto greeted = [met](const server& s) { return met->greet(s); };
  if (to.topology == topology::cluster)
    return std::make_shared<cluster>(thread, to, v, up, channel, greeted);
  return std::make_shared<one_server>(thread, to, v, up, channel, greeted);
}

}  // namespace

redis_engine::redis_engine(const spi::url& where, target to, spi::host& up, spi::time_point by)
    : steps_(steps_of(where)),
      to_(completed(std::move(to), steps_)),
      about_(traits_of(steps_, to_)),
      how_{.channel = new_channel(), .announces = to_.voter},
      met_(std::make_shared<acquaintance>(to_, visits_, up)),
      io_(io::join()),
      servers_(servers_of(io_, to_, visits_, up, how_.channel, met_)) {
  try {
    const decoder is_there;  // here, where somebody can be told that it is not
    servers_->open(std::min(by, boot_clock::now() + 5s), where.printable);
  } catch (...) {
    close();
    throw;
  }
}

redis_engine::~redis_engine() { close(); }

void redis_engine::close() noexcept {
  if (closed_.exchange(true)) return;
  servers_->close();
  visits_->close();
  io_->leave();
}

void redis_engine::acquire(spi::claim& a, spi::time_point by, spi::done<spi::acquire_reply> done) {
  if (to_.waits_after_restart && a.token == 0)
    if (const auto left = met_->unsettled(boot_clock::now()); left > 0ms) {
      spi::acquire_reply refused;
      refused.retry_after = left;
      return done({}, std::move(refused));
    }
  if (to_.replication != replication::none)
    return acquire_replicated(servers_, steps_, a, how_, met_->confirmations_wanted(), by,
                              std::move(done));
  if (auto r = steps_.acquire(a, how_, by, std::move(done))) servers_->submit(std::move(r));
}

void redis_engine::renew(std::span<spi::claim* const> claims, spi::time_point by,
                         spi::renewed each) {
  const auto shared = std::make_shared<spi::renewed>(std::move(each));
  if (servers_->spread()) return renew_one_by_one(claims, by, shared);
  for (std::size_t first = 0; first < claims.size(); first += claims_per_request) {
    const auto part = claims.subspan(first, std::min(claims_per_request, claims.size() - first));
    servers_->submit(renewal(part, first, shared, by), servers::way::renewals);
  }
}

std::unique_ptr<request> redis_engine::renewal(std::span<spi::claim* const> claims,
                                               std::size_t first,
                                               const std::shared_ptr<spi::renewed>& each,
                                               spi::time_point by) {
  const auto again = [each, by, servers = servers_, &steps = steps_](spi::claim& a, std::size_t i) {
    spi::claim* const one = &a;
    servers->submit(steps.renew({&one, 1}, i, each, by), servers::way::renewals);
  };
  auto kept = steps_.keep ? steps_.keep(claims, first, each, by, again) : nullptr;
  return kept ? std::move(kept) : steps_.renew(claims, first, each, by);
}

// All keys of a script must be in one slot; two names seldom are. The requests go together all the
// same.
void redis_engine::renew_one_by_one(std::span<spi::claim* const> claims, spi::time_point by,
                                    const std::shared_ptr<spi::renewed>& each) {
  for (std::size_t i = 0; i < claims.size(); ++i)
    servers_->submit(renewal(claims.subspan(i, 1), i, each, by), servers::way::renewals);
}

void redis_engine::release(const spi::claim& a, spi::time_point by,
                           spi::done<spi::release_reply> done) {
  servers_->submit(steps_.release(a, how_, by, std::move(done)));
}

void redis_engine::change(const spi::cell_change& ch, spi::time_point by,
                          spi::done<spi::cell_reply> done) {
  servers_->submit(change_request(ch, by, std::move(done)));
}

void redis_engine::record(const spi::ledger_change& ch, spi::time_point by,
                          spi::done<spi::ledger_reply> done) {
  servers_->submit(record_request(ch, by, std::move(done)));
}

void redis_engine::survey(const spi::survey_query& q, spi::time_point by,
                          spi::done<spi::survey_reply> done) {
  redis::survey(servers_, steps_, q, by, std::move(done));
}

void redis_engine::evict(const spi::resource& what, const spi::owner_id& owner, std::uint64_t token,
                         spi::time_point by, spi::done<spi::release_reply> done) {
  servers_->submit(steps_.evict(what, owner, token, how_, by, std::move(done)));
}

void redis_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  servers_->examine_group(
      by, [servers = servers_, login = to_.login, channel = how_.channel, by,
           done = std::move(done)](const spi::status&, std::vector<finding> group) mutable {
        redis::examine(servers, login, channel, by,
                       [group = std::move(group), done = std::move(done)](
                           spi::status s, std::vector<finding> rows) mutable {
                         rows.insert(rows.begin(), group.begin(), group.end());
                         done(std::move(s), std::move(rows));
                       });
      });
}

void redis_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  redis::collect(servers_, by, std::move(done));
}

void redis_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  const std::string_view what = key.substr(std::min<std::size_t>(key.size(), 1));
  // A claim's grant comes on the client's channel, which is heard always.
  if (subscriber::is_owner_key(key)) return done({}, {.recheck = servers_->told(what)});
  servers_->watch(std::string{what}, std::move(done));
}

void redis_engine::unwatch(std::string_view key) noexcept {
  if (!subscriber::is_owner_key(key) && !key.empty()) servers_->unwatch(std::string{key.substr(1)});
}

}  // namespace afar::engines::redis

namespace afar::engines {

std::unique_ptr<spi::engine> open_redis(const spi::url& where, spi::host& up, spi::time_point by) {
  redis::target to = redis::target_of(where);
  const bool clustered = to.topology == redis::topology::cluster;
  auto engine = std::make_unique<redis::redis_engine>(where, std::move(to), up, by);
  if (!clustered) return engine;
  return std::make_unique<redis::escaped_names>(std::move(engine));
}

}  // namespace afar::engines
