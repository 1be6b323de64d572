#include "engines/redis/claim_answers.hpp"
#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/steps.hpp"
#include "engines/redis/subscriber.hpp"

#include <afar/detail/fault.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <ctime>
#include <functional>
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

// Its client gives it back when it is asked on its channel, which the record of the hold names.
bool lingers(const spi::claim& a) noexcept { return a.linger > 0ms; }

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

// What the record of a hold says of it, as a memo of its last renewal. Another one every hour: then the keys
// around it are looked after.
class renewal_memo {
 public:
  static std::uint64_t this_hour() noexcept {
    return static_cast<std::uint64_t>(boot_clock::now().time_since_epoch() / 1h);
  }
  renewal_memo(const spi::claim& a, std::uint64_t hour) noexcept {
    add(std::hash<std::string_view>{}(a.note));
    add(a.token);
    add(hour);
  }
  renewal_memo(const renewal_memo&) = delete;  // end_ points into it
  renewal_memo& operator=(const renewal_memo&) = delete;
  std::string_view text() const noexcept { return {text_, end_}; }

 private:
  void add(std::uint64_t n) noexcept {
    end_ = std::to_chars(end_, std::end(text_), n).ptr;
    *end_++ = ' ';
  }
  char text_[3 * 21];  // digits of a number, and a space
  char* end_ = text_;
};

// In microseconds. A token key that is older is renewed, with the server's clock: so it may be the
// client's, as it was some time ago. The link puts a later moment there: what a server that was restarted
// or promoted knows of tokens may be less than what was given out before we were connected.
// 16 digits also for a clock that was never set.
std::int64_t half_a_day_before(std::int64_t second) {
  return std::max<std::int64_t>((second - 12 * 60 * 60) * 1'000'000, 1'000'000'000'000'000);
}

// A thread mostly works for one client: its name is not written anew.
void owner_word(std::string& out, const spi::owner_id& owner) {
  struct words {
    spi::owner_id of;
    char text[spi::owner_id::longest_text];
    char* number;
  };
  thread_local words last{{}, {}, nullptr};
  if (!last.number || !owner.same_client(last.of)) {
    last.of = owner;
    last.of.number = 0;
    last.number = last.of.print(last.text) - 1;
  }
  char* const end = std::to_chars(last.number, last.text + sizeof last.text, owner.number).ptr;
  command::word(out, {last.text, static_cast<std::size_t>(end - last.text)});
}

// A claim's acquire but for its owner. A thread mostly asks for what it asked for before.
class acquire_words {
 public:
  static void write(request& to, const spi::claim& a, const telling& how,
                    std::string_view watchers) {
    thread_local acquire_words last;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (!last.fit(a, how, now.tv_sec)) last = acquire_words{a, how, watchers, now.tv_sec};
    to.code = &scripts::acquire;
    to.count = 1 + keys + others;
    to.words.reserve(last.before_.size() + last.behind_.size() + room_for_owner);
    to.words.append(last.before_);
    owner_word(to.words, a.owner);
    to.moment_at = to.words.size() + last.moment_at_;
    to.words.append(last.behind_);
  }

 private:
  static constexpr std::size_t keys = 3;
  static constexpr std::size_t others = 6;
  static constexpr std::size_t room_for_owner = spi::owner_id::longest_text + 16;
  static constexpr std::int64_t some_time = 60;  // s

  acquire_words() = default;
  acquire_words(const spi::claim& a, const telling& how, std::string_view watchers,
                std::int64_t second)
      : of_(a), name_(a.what.name), note_(a.note), channel_(how.channel), second_(second) {
    of_.place.clear();
    command::word(before_, std::int64_t{keys});
    before_.append(key_words::of(a.what.name).three());
    const bool short_way = mode_of(a) == 'x' && a.token == 0 && watchers.empty() && !lingers(a);
    command::word(behind_, a.lease.count());
    command::word(behind_, short_way ? std::int64_t{a.handoffs} + 1 : 0);
    command::word(behind_, half_a_day_before(second));
    moment_at_ = behind_.size() - 16 - 2;  // "<16 digits>\r\n"
    std::string joint;                     // of the record that a holder is
    joined(joint, a.handoffs, letter(a.what.kind), -a.lease.count());
    if (lingers(a)) joint.append("?").append(how.channel).append(" ");
    command::word(behind_, joint.append(a.note));
    joint.clear();
    command::word(behind_, joined(joint, mode_of(a), a.token, place_time(a).count(), a.permits,
                                  a.limit, how.channel)
                               .append(watchers));
  }

  bool fit(const spi::claim& a, const telling& how, std::int64_t second) const noexcept {
    return a.what.kind == of_.what.kind && a.mode == of_.mode && a.permits == of_.permits &&
           a.limit == of_.limit && a.lease == of_.lease && a.queue == of_.queue &&
           a.handoffs == of_.handoffs && a.linger == of_.linger && a.token == of_.token &&
           second - second_ < some_time && a.what.name == name_ && a.note == note_ &&
           how.channel == channel_;
  }

  spi::claim of_ = {};  // its numbers
  std::string name_;
  std::string note_;
  std::string channel_;
  std::int64_t second_ = 0;
  std::string before_;
  std::string behind_;
  std::size_t moment_at_ = 0;
};

}  // namespace

spi::milliseconds waiter_lease(const spi::claim& a) noexcept {
  return std::min<spi::milliseconds>(a.lease, 3s);
}

std::unique_ptr<request> acquire_request(spi::claim& a, const telling& how, spi::time_point by,
                                         spi::done<spi::acquire_reply> done) {
  if (auto bad = bad_use(a)) {
    done(std::move(bad), {});
    return nullptr;
  }
  const std::string_view name = a.what.name;
  const std::string watchers = layout::watchers_channel(a.what.kind, name, how.announces);
  auto r = acquiring(a, how.announces ? subscriber::channel_key(watchers) : std::string{}, by,
                     std::move(done));
  if (a.what.kind == kind::barrier) {
    arguments{*r, scripts::arrive, 5, 6}
        .add_words(key_words::of(name).five())
        .add(a.owner.text())
        .add(place_time(a))
        .add(std::int64_t{a.limit})
        .add(how.channel)
        .add(a.note)
        .add(was_silent_for_too_long(a) ? "1" : "");
    return r;
  }
  acquire_words::write(*r, a, how, watchers);
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
  if (AFAR_MUTANT("redis.release.no_compare")) {
    append(r->words, {"DEL", layout::name_key(name)});
    return r;
  }
  r->may_linger = a.token != 0;
  // What never was a hold is withdrawn in silence: who hears of it would only try in vain.
  const std::string watchers =
      layout::watchers_channel(a.what.kind, name, how.announces && a.token != 0);
  arguments words{*r, scripts::release, 3, watchers.empty() ? 1U : 2U};
  words.add_words(key_words::of(name).three());
  owner_word(r->words, a.owner);
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
  auto r = renewing(claims, first, std::move(each), by, [](spi::claim& a) {
    if (mode_of(a) == 'x') a.place = renewal_memo{a, renewal_memo::this_hour()}.text();
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

std::unique_ptr<request> keep_request(std::span<spi::claim* const> claims, std::size_t first,
                                      std::shared_ptr<spi::renewed> each, spi::time_point by,
                                      renew_again again) {
  const auto unchanged = [hour = renewal_memo::this_hour()](const spi::claim* a) {
    return mode_of(*a) == 'x' && a->place == renewal_memo{*a, hour}.text();
  };
  if (!std::ranges::all_of(claims, unchanged)) return nullptr;
  const bool one_lease = std::ranges::all_of(
      claims, [&](const spi::claim* a) { return a->lease == claims.front()->lease; });
  auto r = keeping(claims, first, std::move(each), by, std::move(again));
  arguments to{*r, scripts::keep, claims.size(), claims.size() + (one_lease ? 1 : claims.size())};
  for (const spi::claim* a : claims) to.add(layout::name_key(a->what.name));
  for (const spi::claim* a : claims) {
    char owner[spi::owner_id::longest_text + 1];
    char* const end = a->owner.print(owner);
    *end = ' ';
    to.add({owner, end + 1});
  }
  for (const spi::claim* a : claims.first(one_lease ? 1 : claims.size())) to.add(a->lease);
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

const claim_steps afar_steps{acquire_request, release_request, evict_request,
                             renew_request,   keep_request,    survey_words};

const claim_steps& steps_of(const spi::url& where) {
  const auto chosen = where.options.find("layout");
  if (chosen == where.options.end() || chosen->second == "afar") return afar_steps;
  if (chosen->second == "redisson") return redisson_steps;
  throw std::invalid_argument{"layout=" + chosen->second + ": afar or redisson is allowed"};
}

}  // namespace afar::engines::redis
