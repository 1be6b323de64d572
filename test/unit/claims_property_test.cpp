// Random steps of many claimants on one claims record, checked against a model that knows only what
// the claimants were told. The seed of a failure is in its message.
#include "engines/records/claims.hpp"

#include "unit/claims_fixture.hpp"

#include <map>
#include <random>
#include <set>

namespace afar::test {
namespace {

struct setting {
  kind k;
  std::uint32_t limit;
};
void PrintTo(const setting& s, std::ostream* out) { *out << word(s.k); }

class random_claims : public ::testing::TestWithParam<setting> {
 protected:
  static constexpr int claimants = 8;

  void run(std::uint64_t seed, int steps) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    dice_.seed(seed);
    record_ = {};
    told_ = {};
    line_ = {};
    called_ = {};
    first_call_ = {};
    sent_ = {};
    greatest_token_ = 0;
    record_.kind = GetParam().k;
    record_.limit = GetParam().limit;
    m_.now = spi::time_point{1h};
    m_.calendar_us = 5;
    for (int i = 0; i < steps && !HasFailure(); ++i) step();
  }

 private:
  struct hold {
    spi::time_point until;
    access mode;
    std::uint32_t permits;
    std::uint64_t token;
  };

  std::uint64_t roll(std::uint64_t n) { return dice_() % n; }

  void step() {
    if (roll(3) == 0) m_.now += std::chrono::milliseconds{roll(roll(20) == 0 ? 3'000 : 40)};
    m_.calendar_us += roll(3);
    const std::uint64_t n = roll(claimants);
    e_ = {};
    forget_the_silent();
    switch (roll(8)) {
      case 0:
      case 1:
      case 2:
      case 3:
        acquire(n);
        break;
      case 4:
      case 5:
        release(n);
        break;
      case 6:
        renew(n);
        break;
      case 7:
        roll(4) == 0 ? evict(n) : sweep(record_, m_, e_);
        break;
    }
    for (const auto& o : e_.call) note_call(o.number);
    check_line();
    check_holders();
  }

  // A claim keeps its mode and permits from the first attempt to the release.
  spi::claim claim(std::uint64_t n) {
    auto known = sent_.find(n);
    if (known == sent_.end()) {
      spi::claim a;
      a.what = {record_.kind, "x"};
      a.owner = owner(n);
      a.limit = record_.limit;
      a.permits = record_.kind == kind::permits ? static_cast<std::uint32_t>(1 + roll(a.limit)) : 1;
      a.mode = roll(2) != 0 ? access::shared : access::exclusive;
      a.lease = std::chrono::milliseconds{100 + roll(2'000)};
      a.handoffs = static_cast<std::uint32_t>(roll(5));
      known = sent_.emplace(n, a).first;
    }
    return known->second;
  }

  void acquire(std::uint64_t n) {
    spi::claim a = claim(n);
    a.queue = roll(4) != 0;
    const auto held = told_.find(n);
    const bool converting = held != told_.end() && record_.kind == kind::shared_mutex && roll(2);
    if (converting) {
      a.token = held->second.token;
      a.mode = roll(2) != 0 ? access::shared : access::exclusive;
    }
    spi::acquire_reply reply;
    ASSERT_FALSE(engines::records::acquire(record_, a, m_, reply, e_));
    called_.erase(n);
    first_call_.erase(n);
    if (!reply.granted) {
      ASSERT_TRUE(held == told_.end() || converting) << "it held";
      ASSERT_TRUE(reply.retry_after);
      if (!converting) stand(n, a.queue);
      return;
    }
    if (held == told_.end()) {
      check_order(n);
      std::erase(line_, n);
    }
    check_token(n, a, reply);
    told_[n] = {m_.now + a.lease, a.mode, a.permits, reply.token};
    if (converting) sent_[n].mode = a.mode;
  }

  void stand(std::uint64_t n, bool queue) {
    places_[n] = m_.now + m_.waiter_lease;
    const bool stands = std::ranges::find(line_, n) != line_.end();
    if (queue && !stands) line_.push_back(n);
    if (!queue) std::erase(line_, n);
  }

  void release(std::uint64_t n) {
    const bool mine = told_.contains(n) || std::ranges::find(line_, n) != line_.end();
    const auto reply = engines::records::release(record_, owner(n), m_, e_);
    ASSERT_EQ(reply, mine ? release_reply::released : release_reply::gone) << n;
    leave(n);
  }

  void renew(std::uint64_t n) {
    const spi::claim a = claim(n);
    const auto reply = engines::records::renew(record_, a, m_, e_);
    const bool stands = std::ranges::find(line_, n) != line_.end();
    ASSERT_EQ(reply.why == loss::none, told_.contains(n) || stands);
    if (told_.contains(n)) told_[n].until = m_.now + a.lease;
    if (stands) places_[n] = m_.now + m_.waiter_lease;
  }

  void evict(std::uint64_t n) {
    if (!told_.contains(n)) return sweep(record_, m_, e_);
    ASSERT_EQ(engines::records::evict(record_, owner(n), told_[n].token, m_, e_),
              release_reply::released);
    leave(n);
    ASSERT_EQ(engines::records::renew(record_, claim(n), m_, e_).why, loss::evicted);
  }

  void leave(std::uint64_t n) {
    told_.erase(n);
    std::erase(line_, n);
    sent_.erase(n);
    called_.erase(n);
    first_call_.erase(n);
  }

  void forget_the_silent() {
    std::erase_if(told_, [&](const auto& t) { return t.second.until <= m_.now; });
    std::erase_if(line_, [&](std::uint64_t n) { return places_[n] <= m_.now; });
    std::erase_if(first_call_, [&](const auto& c) { return !std::ranges::count(line_, c.first); });
  }

  // ---- what must hold ---------------------------------------------------------------------------

  void check_token(std::uint64_t n, const spi::claim& a, const spi::acquire_reply& reply) {
    const auto held = told_.find(n);
    const bool fresh =
        held == told_.end() || (a.mode == access::exclusive && held->second.mode == access::shared);
    if (!fresh) {
      ASSERT_EQ(reply.token, held->second.token) << "a grant repeated, or a downgrade";
      return;
    }
    ASSERT_GT(reply.token, greatest_token_);
    ASSERT_EQ(reply.last_token, reply.token + a.handoffs);
    greatest_token_ = reply.last_token;
  }

  // Called before the model's line changes.
  void check_order(std::uint64_t n) {
    for (const std::uint64_t ahead : line_) {
      if (ahead == n) return;
      const spi::claim a = sent_.at(ahead);
      const bool side_by_side = record_.kind == kind::permits ||
                                (record_.kind == kind::shared_mutex && a.mode == access::shared &&
                                 sent_.at(n).mode == access::shared);
      if (record_.kind == kind::fair_mutex) FAIL() << n << " overtook " << ahead;
      ASSERT_TRUE(side_by_side || had_its_chance(ahead)) << n << " overtook " << ahead;
    }
  }
  bool had_its_chance(std::uint64_t n) const {
    const auto c = first_call_.find(n);
    return c != first_call_.end() && m_.now - c->second > m_.patience;
  }

  // Of those that exclude each other one is called at a time, unless the others did not come.
  void note_call(std::uint64_t n) {
    called_.insert(n);
    first_call_.emplace(n, m_.now);
    if (record_.kind == kind::permits || record_.kind == kind::shared_mutex) return;
    for (const std::uint64_t ahead : line_) {
      if (ahead == n) return;
      ASSERT_TRUE(had_its_chance(ahead)) << n << " was called before " << ahead;
    }
  }

  bool fits(const std::vector<spi::claim>& others, const spi::claim& a) const {
    std::uint64_t permits = a.permits;
    bool writer = false;
    for (const auto& o : others) {
      permits += o.permits;
      writer |= o.mode == access::exclusive;
    }
    if (record_.kind == kind::permits) return permits <= record_.limit;
    if (record_.kind == kind::shared_mutex && a.mode == access::shared) return !writer;
    return others.empty();
  }

  std::vector<spi::claim> believers() {
    std::vector<spi::claim> out;
    for (const auto& t : told_) out.push_back(sent_.at(t.first));
    return out;
  }

  // No lost call: whoever may hold beside the holders and all ahead of it has been called.
  void check_line() {
    ASSERT_EQ(record_.line.size(), line_.size());
    auto others = believers();
    for (const std::uint64_t n : line_)  // an old call does not count: they came too late for it
      if (!fits(others, sent_.at(n))) called_.erase(n);
    for (std::size_t i = 0; i < line_.size(); ++i) {
      ASSERT_EQ(record_.line[i].owner, owner(line_[i])) << "the order of the line";
      const spi::claim& a = sent_.at(line_[i]);
      if (!fits(others, a)) return;
      ASSERT_TRUE(called_.contains(line_[i])) << line_[i] << " may hold and sleeps";
      others.push_back(a);
    }
  }

  void check_holders() {
    ASSERT_EQ(record_.holders.size(), told_.size());
    std::vector<spi::claim> others;
    for (const auto& a : believers()) {
      ASSERT_TRUE(fits(others, a)) << "they exclude each other";
      others.push_back(a);
    }
  }

  std::mt19937_64 dice_;
  engines::records::claims record_;
  engines::records::moment m_;
  effects e_;
  std::map<std::uint64_t, hold> told_;                   // what claimants were told that they hold
  std::map<std::uint64_t, spi::claim> sent_;             // what they ask for
  std::vector<std::uint64_t> line_;                      // who waits, in the order of arrival
  std::map<std::uint64_t, spi::time_point> places_;      // until when they keep their places
  std::set<std::uint64_t> called_;                       // whose call still stands
  std::map<std::uint64_t, spi::time_point> first_call_;  // since their last attempt
  std::uint64_t greatest_token_ = 0;
};

TEST_P(random_claims, exclude_keep_order_and_lose_no_call) {
  for (std::uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) run(seed, 300);
}

INSTANTIATE_TEST_SUITE_P(, random_claims,
                         ::testing::Values(setting{kind::mutex, 1}, setting{kind::fair_mutex, 1},
                                           setting{kind::shared_mutex, 1},
                                           setting{kind::permits, 4}, setting{kind::election, 1}),
                         [](const auto& p) { return std::string{word(p.param.k)}; });

}  // namespace
}  // namespace afar::test
