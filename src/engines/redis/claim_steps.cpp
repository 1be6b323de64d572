#include "engines/redis/claim_answers.hpp"
#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/steps.hpp"
#include "engines/redis/subscriber.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
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

void join(std::string& out, std::string_view word) { out.append(word); }
void join(std::string& out, char sign) { out += sign; }
template <std::integral Number>
void join(std::string& out, Number n) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, n).ptr);
}

// Several words of a script's as one, each with a blank behind it: a word costs the server more than
// its bytes.
template <class... Words>
std::string& joined(std::string& out, const Words&... words) {
  out.reserve(128);
  ((join(out, words), out += ' '), ...);
  return out;
}

// In microseconds. A token key that is older is renewed: a hint, so that it may be the client's clock.
std::int64_t half_a_day_ago() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now - 12h).count();
}

// The keys of a name as words of a command. A thread mostly asks for the name that it asked for
// before, and building them costs more than the rest of a request.
class key_words {
 public:
  explicit key_words(std::string_view name) : name_(name) {
    command::word(all_, layout::name_key(name));
    command::word(all_, layout::queue_key(name));
    command::word(all_, layout::token_key(name));
    first_three_ = all_.size();
    command::word(all_, layout::past_key(name));
    command::word(all_, layout::cell_key(name));
  }
  static const key_words& of(std::string_view name) {
    thread_local key_words last{{}};
    if (last.name_ != name) last = key_words{name};
    return last;
  }

  std::string_view five() const noexcept { return all_; }  // name, queue, token, past, cell
  std::string_view three() const noexcept { return five().substr(0, first_three_); }

 private:
  std::string name_;
  std::string all_;
  std::size_t first_three_ = 0;
};

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
  auto r = acquiring(a, how.announces ? subscriber::channel_key(watchers) : std::string{}, by,
                     std::move(done));
  if (a.what.kind == kind::barrier) {
    arguments{*r, scripts::arrive, 5, 5}
        .add_words(key_words::of(name).five())
        .add(owner)
        .add(place_time(a))
        .add(std::int64_t{a.limit})
        .add(how.channel)
        .add(a.note);
    return r;
  }
  const bool short_way = mode_of(a) == 'x' && a.token == 0 && watchers.empty();
  std::string tail;  // of the record that a holder is
  joined(tail, a.handoffs, letter(a.what.kind), -a.lease.count()).append(a.note);
  std::string rest;
  joined(rest, mode_of(a), a.token, place_time(a).count(), a.permits, a.limit, how.channel)
      .append(watchers);
  arguments{*r, scripts::acquire, 3, 6}
      .add_words(key_words::of(name).three())
      .add(owner)
      .add(a.lease)
      .add(short_way ? std::int64_t{a.handoffs} + 1 : 0)
      .add(half_a_day_ago())
      .add(tail)
      .add(rest);
  return r;
}

std::unique_ptr<request> release_request(const spi::claim& a, const telling& how,
                                         spi::time_point by, spi::done<spi::release_reply> done) {
  const std::string_view name = a.what.name;
  auto r = releasing(by, std::move(done));
  if (a.what.kind == kind::barrier) {
    arguments{*r, scripts::leave, 2, 1}
        .add(layout::queue_key(name))
        .add(layout::past_key(name))
        .add(a.owner.text());
    return r;
  }
  // What never was a hold is withdrawn in silence: who hears of it would only try in vain.
  const std::string watchers =
      layout::watchers_channel(a.what.kind, name, how.announces && a.token != 0);
  arguments words{*r, scripts::release, 3, watchers.empty() ? 1U : 2U};
  words.add_words(key_words::of(name).three()).add(a.owner.text());
  if (!watchers.empty()) words.add(watchers);
  return r;
}

std::unique_ptr<request> evict_request(const spi::resource& what, const spi::owner_id& owner,
                                       std::uint64_t token, const telling& how, spi::time_point by,
                                       spi::done<spi::release_reply> done) {
  auto r = releasing(by, std::move(done));
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
