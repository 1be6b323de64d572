#include "engines/redis/redis_engine.hpp"

#include "engines/redis/collect.hpp"
#include "engines/redis/examine.hpp"
#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/redis.hpp"
#include "engines/redis/survey_steps.hpp"

#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <future>
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

// Below 6.2, SET has no GET and ZADD no GT.
bool too_old(std::string_view version) {
  int major = 0;
  int minor = 0;
  const char* end = version.data() + version.size();
  const auto read = std::from_chars(version.data(), end, major);
  if (read.ptr != end) std::from_chars(read.ptr + 1, end, minor);
  return major < 6 || (major == 6 && minor < 2);
}

spi::status refusal(const server& s, const target& to) {
  if (too_old(s.version))
    return {errc::unsupported, "is Redis " + s.version + "; needs 6.2 or later"};
  if (s.mode == "cluster")
    return {errc::unsupported, "is a cluster, which redis:// does not serve"};
  if (s.mode == "sentinel") return {errc::unsupported, "is a Sentinel, which stores no data"};
  // A promotion may be under way, so this is worth another try.
  if (s.role != "master") return {errc::unavailable, "is a read-only replica; name the master"};
  const bool evicts = !s.eviction.empty() && s.eviction != "noeviction";
  if (evicts && !to.accepts_eviction)
    return {errc::unsupported, "drops keys when it is full, locks too (maxmemory-policy " +
                                   s.eviction + "); set noeviction, or open with ?eviction=accept"};
  return {};
}

spi::traits traits_of(const claim_steps& how) {
  spi::traits t;
  t.name = "redis";
  t.token_block = 64;
  t.waiter_lease = 3s;
  t.ordered = true;              // one connection
  t.fifo = &how == &afar_steps;  // Java's waiters know of no line
  return t;
}

}  // namespace

redis_engine::redis_engine(const spi::url& where, spi::host& up, spi::time_point by)
    : how_(steps_of(where)),
      about_(traits_of(how_)),
      to_(target_of(where)),
      channel_(new_channel()),
      io_(io::join()),
      where_(std::make_shared<fixed_address>(to_.servers.front())),
      commands_(std::make_shared<link>(io_, where_, visits_,
                                       [to = to_](const server& s) { return refusal(s, to); })),
      renewals_(std::make_shared<link>(io_, where_, visits_,
                                       [to = to_](const server& s) { return refusal(s, to); })),
      told_(std::make_shared<subscriber>(io_, where_, visits_, up, channel_)) {
  try {
    const decoder is_there;  // here, where somebody can be told that it is not
    await_open(by, where.printable);
  } catch (...) {
    close();
    throw;
  }
}

redis_engine::~redis_engine() { close(); }

// The first answer on each connection, and the client's own channel heard. No connection is left for
// later: a hold must not be lost because the server has no room any more for the one that renews it.
void redis_engine::await_open(spi::time_point by, const std::string& printable) {
  const auto limit = std::min(by, boot_clock::now() + 5s);
  for (link* one : {commands_.get(), renewals_.get()}) {
    std::promise<spi::status> answered;  // in time, by the link's own word
    auto ping = make_request(limit, [&](spi::status s, const reply& r) {
      answered.set_value(!s && r.failed() ? failure_of(r) : std::move(s));
    });
    append(ping->words, {"PING"});
    one->submit(std::move(ping));
    if (auto failed = answered.get_future().get())
      throw lock_error{failed.code, printable, failed.detail};
  }
  const auto state = std::make_shared<std::promise<spi::status>>();
  told_->start([state](spi::status s, spi::watch_reply) { state->set_value(std::move(s)); });
  auto heard = state->get_future();
  const auto left = std::max<std::chrono::nanoseconds>(limit - boot_clock::now(), 10ms);
  if (heard.wait_for(left) != std::future_status::ready)
    throw lock_error{errc::unavailable, printable, "does not answer"};
  if (auto failed = heard.get()) throw lock_error{failed.code, printable, failed.detail};
}

void redis_engine::close() noexcept {
  if (closed_.exchange(true)) return;
  commands_->close();
  renewals_->close();
  told_->close();
  visits_->close();
  io_->leave();
}

void redis_engine::acquire(spi::claim& a, spi::time_point by, spi::done<spi::acquire_reply> done) {
  if (auto r = how_.acquire(a, channel_, by, std::move(done))) commands_->submit(std::move(r));
}

void redis_engine::renew(std::span<spi::claim* const> claims, spi::time_point by,
                         spi::renewed each) {
  const auto shared = std::make_shared<spi::renewed>(std::move(each));
  for (std::size_t first = 0; first < claims.size(); first += claims_per_request) {
    const auto part = claims.subspan(first, std::min(claims_per_request, claims.size() - first));
    renewals_->submit(how_.renew(part, first, shared, by));
  }
}

void redis_engine::release(const spi::claim& a, spi::time_point by,
                           spi::done<spi::release_reply> done) {
  commands_->submit(how_.release(a, by, std::move(done)));
}

void redis_engine::change(const spi::cell_change& ch, spi::time_point by,
                          spi::done<spi::cell_reply> done) {
  commands_->submit(change_request(ch, by, std::move(done)));
}

void redis_engine::record(const spi::ledger_change& ch, spi::time_point by,
                          spi::done<spi::ledger_reply> done) {
  commands_->submit(record_request(ch, by, std::move(done)));
}

void redis_engine::survey(const spi::survey_query& q, spi::time_point by,
                          spi::done<spi::survey_reply> done) {
  redis::survey(commands_, how_, q, by, std::move(done));
}

void redis_engine::evict(const spi::resource& what, const spi::owner_id& owner, std::uint64_t token,
                         spi::time_point by, spi::done<spi::release_reply> done) {
  commands_->submit(how_.evict(what, owner, token, by, std::move(done)));
}

void redis_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  redis::examine(commands_, to_.login, channel_, by, std::move(done));
}

void redis_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  redis::collect(commands_, by, std::move(done));
}

void redis_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  const std::string_view what = key.substr(std::min<std::size_t>(key.size(), 1));
  // A claim's grant comes on the client's channel, which is heard always.
  if (subscriber::is_owner_key(key)) return done({}, {.recheck = told_->told(what)});
  told_->watch(std::string{what}, std::move(done));
}

void redis_engine::unwatch(std::string_view key) noexcept {
  if (!subscriber::is_owner_key(key) && !key.empty()) told_->unwatch(std::string{key.substr(1)});
}

}  // namespace afar::engines::redis

namespace afar::engines {

std::unique_ptr<spi::engine> open_redis(const spi::url& where, spi::host& up, spi::time_point by) {
  return std::make_unique<redis::redis_engine>(where, up, by);
}

}  // namespace afar::engines
