#include "engines/redis/claim_answers.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/steps.hpp"
#include "engines/redis/subscriber.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace afar::engines::redis {
namespace {

using namespace std::chrono_literals;
using spi::kind;

spi::status odd() { return {errc::damaged, "an answer that makes no sense"}; }

spi::status read(const reply& r, const spi::claim& a, std::string watch_key,
                 spi::acquire_reply& out) {
  if (r.failed()) return failure_of(r, {a.what.kind, a.limit});
  if (r.is(reply::type::integer)) {  // granted at once, in afar's layout
    if (r.number <= std::int64_t{a.handoffs}) return odd();
    out.granted = true;
    out.last_token = static_cast<std::uint64_t>(r.number);
    out.token = out.last_token - a.handoffs;
    out.lease = a.lease;
    return {};
  }
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
  out.asked = r.at(3).integer() == 1;
  // Not made before it is needed: most claims are granted.
  out.watch_key = watch_key.empty() ? subscriber::owner_key(a.owner.text()) : std::move(watch_key);
  out.retry_after = std::max<spi::milliseconds>(spi::milliseconds{*first}, 1ms);
  return {};
}

}  // namespace

spi::status bad_use(const spi::claim& a) {
  if (records::has_limit(a.what.kind) && a.limit == 0) return {errc::bad_argument, "a limit of 0"};
  if (a.what.kind == kind::permits && (a.permits == 0 || a.permits > a.limit))
    return {errc::bad_argument,
            std::to_string(a.permits) + " permits of " + std::to_string(a.limit)};
  if (a.note.size() > 1'024) return {errc::bad_argument, "a note has at most 1024 bytes"};
  return {};
}

spi::milliseconds place_time(const spi::claim& a) noexcept {
  return a.queue ? waiter_lease(a) : 0ms;
}

bool was_silent_for_too_long(const spi::claim& a) noexcept {
  std::int64_t asked = 0;
  const auto* const end = a.place.data() + a.place.size();
  if (std::from_chars(a.place.data(), end, asked).ec != std::errc{}) return false;
  return boot_clock::now() - boot_clock::time_point{boot_clock::duration{asked}} > 1min;
}

std::unique_ptr<request> acquiring(spi::claim& a, std::string watch_key, spi::time_point by,
                                   spi::done<spi::acquire_reply> done) {
  const bool may_wait = a.what.kind == kind::barrier && a.queue;
  const auto asked = may_wait ? boot_clock::now().time_since_epoch().count() : 0;
  return make_request(by, [&a, asked, key = std::move(watch_key), done = std::move(done)](
                              spi::status s, reply got) mutable {
    spi::acquire_reply out;
    if (!s) s = read(got, a, std::move(key), out);
    if (!s && !out.granted && asked != 0) a.place = std::to_string(asked);
    done(std::move(s), std::move(out));
  });
}

std::unique_ptr<request> releasing(spi::time_point by, spi::done<spi::release_reply> done) {
  return make_request(by, [done = std::move(done)](spi::status s, reply r) mutable {
    if (!s && r.failed()) s = failure_of(r);
    using enum spi::release_reply;
    const auto answer = r.integer().value_or(0);
    done(std::move(s), answer == 0 ? gone : answer == 3 ? wanted : released);
  });
}

std::unique_ptr<request> renewing(std::span<spi::claim* const> claims, std::size_t first,
                                  std::shared_ptr<spi::renewed> each, spi::time_point by,
                                  detail::function<void(spi::claim&)> renewed) {
  return make_request(
      by, [all = std::vector(claims.begin(), claims.end()), first, each = std::move(each),
           renewed = std::move(renewed)](spi::status s, reply got) mutable {
        if (!s && got.failed()) s = failure_of(got);
        if (!s && got.items.size() != all.size()) s = odd();
        for (std::size_t i = 0; i < all.size(); ++i) {
          spi::renew_reply out;
          const auto said = got.at(i).integer().value_or(0);
          if (!s && said == 1 && renewed) renewed(*all[i]);
          if (said == 1) out.lease = all[i]->lease;
          if (said != 1) out.why = said < 0 ? spi::loss::evicted : spi::loss::expired;
          (*each)(first + i, s, out);
        }
      });
}

namespace {
// Whether these are the numbers of some of `many`, in order.
bool numbers_of(const reply& got, std::size_t many) {
  std::int64_t last = 0;
  for (const reply& r : got.items) {
    const std::int64_t n = r.integer().value_or(0);
    if (n <= last || n > static_cast<std::int64_t>(many)) return false;
    last = n;
  }
  return got.is(reply::type::array);
}
}  // namespace

std::unique_ptr<request> keeping(std::span<spi::claim* const> claims, std::size_t first,
                                 std::shared_ptr<spi::renewed> each, spi::time_point by,
                                 renew_again again) {
  return make_request(
      by, [all = std::vector(claims.begin(), claims.end()), first, each = std::move(each),
           again = std::move(again)](spi::status s, reply got) mutable {
        if (!s && got.failed()) s = failure_of(got);
        if (!s && !numbers_of(got, all.size())) s = odd();
        std::size_t missed = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (!s && got.at(missed).integer() == static_cast<std::int64_t>(i + 1)) {
            ++missed;
            again(*all[i], first + i);
          } else {
            (*each)(first + i, s, {.lease = all[i]->lease});
          }
        }
      });
}

}  // namespace afar::engines::redis
