#include <afar/detail/claimable.hpp>

#include "primitives/claim_body.hpp"
#include "primitives/opened.hpp"
#include "primitives/release.hpp"
#include "primitives/report.hpp"

#include <utility>

namespace afar::detail {
namespace {

constexpr spi::kind kind_of(claim_kind k) noexcept {
  switch (k) {
    case claim_kind::mutex:
      return spi::kind::mutex;
    case claim_kind::fair_mutex:
      return spi::kind::fair_mutex;
    case claim_kind::shared_mutex:
      return spi::kind::shared_mutex;
    case claim_kind::permits:
      return spi::kind::permits;
    case claim_kind::barrier:
      return spi::kind::barrier;
    case claim_kind::election:
      return spi::kind::election;
  }
  return spi::kind::mutex;
}

spi::status drop_and_wait(claim_body& body, claim_mode mode) {
  if (body.owner().forked()) return errc::forked;
  auto state = body.unlocked(mode);
  if (!state) return misused(body.owner(), body.name());
  return awaited_release{std::move(state)}.wait();
}

}  // namespace

claimable::claimable(const client& c, claim_kind kind, std::string name, std::uint32_t limit)
    : body_(std::make_shared<claim_body>(opened(c, kind_of(kind), name), kind_of(kind), name,
                                         limit)) {}

claimable::~claimable() {
  if (body_->owner().forked())
    leak(std::move(body_));
  else
    body_->drop_all();
}

const std::string& claimable::name() const noexcept { return body_->name(); }

hold claimable::take(wish w, std::error_code* code) const {
  const deadline by = w.by;
  spi::status s;
  hold got = body_->give(body_->acquire(std::move(w), {}, s));
  report_wait(s, by, name(), code);
  return got;
}

bool claimable::keep(wish w, std::error_code* code) {
  const deadline by = w.by;
  spi::status s;
  const bool got = body_->keep(std::move(w), s);
  report_wait(s, by, name(), code);
  return got;
}

void claimable::drop(claim_mode mode, std::error_code* code) noexcept {
  if (code) return report(drop_and_wait(*body_, mode), name(), code);
  if (body_->owner().forked()) return;
  auto state = body_->unlocked(mode);
  if (!state) misused(body_->owner(), name());
  release(std::move(state));
}

bool claimable::convert_kept(claim_mode to, std::error_code* code) {
  spi::status s;
  const bool done = body_->convert(to, s);
  report(s, name(), code);
  return done;
}

bool claimable::convert(hold& h, claim_mode to, std::error_code* code) const {
  const auto& state = h.state();
  spi::status s;
  bool done = false;
  if (!state)
    s = {errc::not_owner, "the hold is empty"};
  else if (state->line() != body_->line())
    s = {errc::bad_argument, "the hold is not of this lock"};
  else
    done = body_->owner().convert(*state, access_of(to), s);
  report(s, name(), code);
  return done;
}

std::uint64_t claimable::kept_token() const noexcept { return body_->kept_token(); }

std::stop_token claimable::kept_lost() const noexcept {
  const auto kept = body_->kept();
  return kept ? kept->lost() : std::stop_token{};
}

bool claimable::kept_valid() const noexcept {
  const auto kept = body_->kept();
  return kept && kept->valid();
}

void start_take(const std::shared_ptr<claim_body>& body, wish w, acquired done) {
  auto s = body->check(w);
  if (s) return done(s.code, hold{});
  body->owner().start_acquire(
      body->request(std::move(w)),
      [body = body, done = std::move(done)](const spi::status& failed, hold_ptr state) mutable {
        hold got = body->give(std::move(state));
        body.reset();  // `done` has the client too, and leaves it on a thread of the user's
        done(failed.code, std::move(got));
      });
}

}  // namespace afar::detail
