#include "engines/redis/survey_steps.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/layout.hpp"
#include "engines/redis/request.hpp"
#include "engines/redis/subscriber.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace afar::engines::redis {
namespace {

spi::claimant claimant_of(const reply& r) {
  const auto number = [&](std::size_t i) { return r.at(i).integer().value_or(0); };
  spi::claimant out;
  out.owner = layout::owner_of(r.at(0).text);
  out.mode = r.at(1).text == "s" ? spi::access::shared : spi::access::exclusive;
  out.permits = static_cast<std::uint32_t>(number(2));
  out.token = static_cast<std::uint64_t>(number(3));
  out.since = spi::milliseconds{number(4)};
  out.lease_left = spi::milliseconds{number(5)};
  out.note = r.at(6).text;
  return out;
}

// Adds what survey.lua says of a name; nothing if it is not in use or not of the wanted kind.
void describe(const reply& r, std::string name, const std::optional<spi::kind>& wanted,
              spi::survey_reply& out) {
  if (!r.is(reply::type::array)) return;
  const auto kind = kind_of(r.at(0).text);
  if (!kind || (wanted && *wanted != *kind)) return;
  spi::entry e;
  e.kind = *kind;
  e.name = std::move(name);
  if (r.items.size() == 2) {
    e.value = r.at(1).integer().value_or(0);
  } else {
    e.limit = static_cast<std::uint32_t>(r.at(1).integer().value_or(1));
    e.last_token = static_cast<std::uint64_t>(r.at(2).integer().value_or(0));
    for (const reply& h : r.at(3).items) e.holders.push_back(claimant_of(h));
    for (const reply& w : r.at(4).items) e.waiters.push_back(claimant_of(w));
  }
  out.entries.push_back(std::move(e));
}

template <class Give>
void ask(servers& to, const claim_steps& how, std::string_view name, std::string_view family,
         spi::time_point by, Give give) {
  auto r = make_request(by, std::move(give));
  how.survey(*r, name, family);
  to.submit(std::move(r));
}

// One page of all names: a step of SCAN over one index, then every name that it found.
class page : public std::enable_shared_from_this<page> {
 public:
  page(std::shared_ptr<servers> to, const claim_steps& how, const spi::survey_query& q,
       spi::time_point by, spi::done<spi::survey_reply> done)
      : to_(std::move(to)),
        how_(how),
        kind_(q.kind),
        most_(q.most),
        by_(by),
        done_(std::move(done)) {
    // "<index> <server> <cursor of SCAN>"
    const char* at = q.cursor.data();
    const char* const end = at + q.cursor.size();
    for (std::size_t* number : {&index_, &server_}) {
      at = std::from_chars(at, end, *number).ptr;
      if (at != end) ++at;
    }
    if (at != end) scan_.assign(at, end);
  }

  void start() {
    auto r = make_request(by_, [self = shared_from_this()](spi::status s, reply got) {
      if (!s && got.failed()) s = failure_of(got);
      if (s) return self->done_(std::move(s), {});
      self->found(got);
    });
    append(r->words, {"SCAN", scan_, "MATCH", here().pattern, "COUNT",
                      std::to_string(std::max<std::uint32_t>(most_, 1))});
    to_->submit_to(server_, std::move(r));
  }

 private:
  const layout::index& here() const {
    return layout::indexes[std::min(index_, std::size(layout::indexes) - 1)];
  }

  void go_on_at(std::size_t index, std::size_t server, const std::string& scan) {
    out_.cursor = std::to_string(index) + " " + std::to_string(server) + " " + scan;
  }

  void found(const reply& got) {
    std::set<std::string> names;  // SCAN may say a key twice
    for (const reply& key : got.at(1).items)
      if (auto name = layout::name_of(here(), key.text)) names.insert(std::move(*name));
    const std::string& next = got.at(0).text;
    if (next != "0")
      go_on_at(index_, server_, next);
    else if (server_ + 1 < to_->count())
      go_on_at(index_, server_ + 1, "0");
    else if (index_ + 1 < std::size(layout::indexes))
      go_on_at(index_ + 1, 0, "0");
    missing_ = names.size();
    if (names.empty()) return done_({}, std::move(out_));
    for (const std::string& name : names)
      ask(*to_, how_, name, here().family, by_,
          [self = shared_from_this(), name](spi::status s, reply r) {
            self->described(std::move(s), r, name);
          });
  }

  void described(spi::status s, const reply& r, const std::string& name) {
    {
      const std::lock_guard lock{m_};
      if (!s && r.failed()) s = failure_of(r);
      if (s && s.code != errc::denied)  // denied: a name that is none of this user's
        failure_ = std::move(s);
      else if (!s)
        describe(r, name, kind_, out_);
      if (--missing_ > 0) return;
    }
    done_(std::move(failure_), std::move(out_));
  }

  const std::shared_ptr<servers> to_;
  const claim_steps& how_;
  const std::optional<spi::kind> kind_;
  const std::uint32_t most_;
  const spi::time_point by_;
  spi::done<spi::survey_reply> done_;
  std::size_t index_ = 0;
  std::size_t server_ = 0;
  std::string scan_ = "0";

  std::mutex m_;  // answers come on any thread
  std::size_t missing_ = 0;
  spi::status failure_;
  spi::survey_reply out_;
};

}  // namespace

void survey(const std::shared_ptr<servers>& to, const claim_steps& how, const spi::survey_query& q,
            spi::time_point by, spi::done<spi::survey_reply> done) {
  if (q.name.empty()) return std::make_shared<page>(to, how, q, by, std::move(done))->start();
  const auto watchers = layout::watchers_channel(q.kind.value_or(spi::kind::election), q.name);
  ask(*to, how, q.name, "", by,
      [name = std::string{q.name}, kind = q.kind, watchers, done = std::move(done)](
          spi::status s, const reply& r) mutable {
        spi::survey_reply out;
        if (!s && r.failed()) s = failure_of(r);
        if (!s) describe(r, std::move(name), kind, out);
        if (!watchers.empty()) out.watch_key = subscriber::channel_key(watchers);
        done(std::move(s), std::move(out));
      });
}

}  // namespace afar::engines::redis
