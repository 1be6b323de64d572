#include "engines/redis/claim_answers.hpp"
#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/steps.hpp"
#include "engines/redis/subscriber.hpp"

#include <algorithm>
#include <stdexcept>
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

}  // namespace

spi::milliseconds waiter_lease(const spi::claim& a) noexcept {
  return std::min<spi::milliseconds>(a.lease, 3s);
}

std::unique_ptr<request> acquire_request(const spi::claim& a, const std::string& channel,
                                         spi::time_point by, spi::done<spi::acquire_reply> done) {
  if (auto bad = bad_use(a)) {
    done(std::move(bad), {});
    return nullptr;
  }
  const std::string owner = a.owner.text();
  const std::string_view name = a.what.name;
  auto r = acquiring(a, subscriber::owner_key(owner), by, std::move(done));
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
        .add(channel)
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
      .add(channel)
      .add(std::int64_t{a.handoffs})
      .add(a.token)
      .add(layout::watchers_channel(a.what.kind, name))
      .add(a.note);
  return r;
}

std::unique_ptr<request> release_request(const spi::claim& a, spi::time_point by,
                                         spi::done<spi::release_reply> done) {
  const std::string_view name = a.what.name;
  auto r = releasing(by, std::move(done));
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
      .add(layout::watchers_channel(a.what.kind, name));
  return r;
}

std::unique_ptr<request> evict_request(const spi::resource& what, const spi::owner_id& owner,
                                       std::uint64_t token, spi::time_point by,
                                       spi::done<spi::release_reply> done) {
  auto r = releasing(by, std::move(done));
  arguments{*r, scripts::evict, 4, 3}
      .add(layout::name_key(what.name))
      .add(layout::queue_key(what.name))
      .add(layout::token_key(what.name))
      .add(layout::past_key(what.name))
      .add(owner.text())
      .add(token)
      .add(layout::watchers_channel(what.kind, what.name));
  return r;
}

std::unique_ptr<request> renew_request(std::span<spi::claim* const> claims, std::size_t first,
                                       std::shared_ptr<spi::renewed> each, spi::time_point by) {
  auto r = renewing(claims, first, std::move(each), by);
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

void survey_words(request& r, std::string_view name, std::string_view family) {
  arguments{r, scripts::survey, 4, 1}
      .add(layout::name_key(name))
      .add(layout::queue_key(name))
      .add(layout::token_key(name))
      .add(layout::cell_key(name))
      .add(family);
}

const claim_steps afar_steps{acquire_request, release_request, evict_request, renew_request,
                             survey_words};

const claim_steps& steps_of(const spi::url& where) {
  const auto chosen = where.options.find("layout");
  if (chosen == where.options.end() || chosen->second == "afar") return afar_steps;
  if (chosen->second == "redisson") return redisson_steps;
  throw std::invalid_argument{"layout=" + chosen->second + ": afar or redisson is allowed"};
}

}  // namespace afar::engines::redis
