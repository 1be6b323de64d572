#include "engines/quorum/acquisition.hpp"

#include <afar/detail/fault.hpp>
#include <afar/detail/random_between.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

namespace afar::engines::quorum {
namespace {

using namespace std::chrono_literals;

// How long a voter may take. A silent one must not eat the lease, nor hold up who lost the vote.
spi::milliseconds vote_time(spi::milliseconds lease) {
  return std::clamp<spi::milliseconds>(lease / 3, 100ms, 1s);
}

// How much faster a voter's clock may run than ours.
spi::milliseconds drift(spi::milliseconds lease) { return lease / 100 + 2ms; }

// After a split vote: others want it at the same time, so who comes back first must be left to chance. For longer where the
// vote takes long, and each time that it was split again: the more there are, the rarer must their votes be that one of
// them is alone for the time of a vote.
spi::milliseconds pause_after_split(boot_clock::duration vote, int splits) {
  constexpr spi::milliseconds longest = 250ms;
  const auto once =
      std::max<spi::milliseconds>(40ms, std::chrono::ceil<spi::milliseconds>(2 * vote));
  const auto most = std::min(once * (1 << std::clamp(splits, 0, 3)), longest);
  return detail::random_between<spi::milliseconds>(5ms, std::max(most, 40ms));
}

class acquisition : public std::enable_shared_from_this<acquisition> {
 public:
  acquisition(voters_ptr who, spi::claim& a, spi::time_point by, spi::done<spi::acquire_reply> done)
      : who_(std::move(who)),
        claim_(a),
        begun_(boot_clock::now()),
        lease_(a.lease),
        token_before_(a.token),
        by_(std::min(by, begun_ + vote_time(a.lease))),
        needed_(who_->needed(a.what.kind, a.limit)),
        ballots_(ballots_for(a, who_->size())),
        votes_(who_->size()),
        missing_(who_->size()),
        done_(std::move(done)) {}

  void start() {
    for (std::size_t i = 0; i < who_->size(); ++i)
      who_->all[i]->acquire(ballots_[i]->claim, by_,
                            [self = shared_from_this(), i](spi::status s, spi::acquire_reply r) {
                              self->voted(i, std::move(s), std::move(r));
                            });
    {
      const std::lock_guard lock{m_};
      all_asked_ = true;
    }
    judge();
  }

 private:
  struct vote {
    bool cast = false;
    spi::status failure = {};
    spi::acquire_reply reply = {};
  };
  enum class phase : std::uint8_t { voting, confirming, over };

  bool converts() const noexcept { return token_before_ != 0; }

  void voted(std::size_t i, spi::status s, spi::acquire_reply r) {
    AFAR_FAULT("quorum.acquire.voted");
    {
      const std::lock_guard lock{m_};
      --missing_;
      if (phase_ != phase::voting) return;  // it is returned, or renewed, with the others
      if (!s && r.granted) ++granted_;
      votes_[i] = {true, std::move(s), std::move(r)};
    }
    judge();
  }

  // Not before all were asked: what is given back first and asked for afterwards would stay for a lease.
  void judge() {
    bool won = false;
    {
      const std::lock_guard lock{m_};
      if (phase_ != phase::voting || !all_asked_) return;
      won = granted_ >= needed_;
      if (!won && granted_ + missing_ >= needed_) return;
      phase_ = won ? phase::confirming : phase::over;
    }
    won ? confirm() : lose();
  }

  // ---- enough votes: the second round

  void confirm() {
    std::vector<std::size_t> ask;
    {
      const std::lock_guard lock{m_};
      // A hold that is shared from now on keeps its token. A voter whose vote was not needed may have
      // stored a larger one.
      if (converts() && ballots_.front()->claim.mode == spi::access::shared)
        token_ = token_before_;
      else
        for (const vote& v : votes_)
          if (v.reply.granted) token_ = std::max(token_, v.reply.token);
      for (std::size_t i = 0; i < votes_.size(); ++i) {
        if (!votes_[i].reply.granted) continue;
        ballots_[i]->claim.token = token_;
        if (votes_[i].reply.token >= token_)
          ++confirmed_;
        else
          ask.push_back(i);
      }
      asked_ = ask.size();
    }
    if (ask.empty()) return decide();
    AFAR_FAULT("quorum.acquire.between_rounds");
    const auto by = boot_clock::now() + vote_time(lease_);
    for (const std::size_t i : ask) {
      spi::claim* one[] = {&ballots_[i]->claim};
      who_->all[i]->renew(one, by,
                          [self = shared_from_this()](std::size_t, const spi::status& s,
                                                      const spi::renew_reply& r) {
                            self->confirmed(!s && r.why == spi::loss::none);
                          });
    }
  }

  void confirmed(bool yes) {
    {
      const std::lock_guard lock{m_};
      --asked_;
      if (yes) ++confirmed_;
      if (phase_ == phase::over) return;
      if (confirmed_ < needed_ && confirmed_ + asked_ >= needed_) return;
    }
    decide();
  }

  void decide() {
    const auto elapsed = boot_clock::now() - begun_;
    {
      const std::lock_guard lock{m_};
      if (std::exchange(phase_, phase::over) == phase::over) return;
      // What is left of the lease counts from the first word to the first voter.
      if (confirmed_ < needed_ || elapsed + drift(lease_) >= lease_) granted_ = 0;
    }
    if (granted_ == 0) return lose();
    AFAR_FAULT("quorum.acquire.decided");
    spi::acquire_reply won;
    won.granted = true;
    won.token = won.last_token = token_;
    won.lease = lease_;
    done_({}, std::move(won));
  }

  // ---- too few

  void lose() {
    spi::status failure;
    spi::acquire_reply refused;
    {
      const std::lock_guard lock{m_};
      failure = summary(refused);
    }
    give_back();
    done_(std::move(failure), std::move(refused));
  }

  // What the claimant is told; m_ held.
  spi::status summary(spi::acquire_reply& refused) {
    std::vector<spi::status> failures;
    std::vector<spi::milliseconds> waits;
    std::size_t gone = 0;
    bool split = false;
    for (const vote& v : votes_) {
      if (v.failure) failures.push_back(v.failure);
      if (!v.cast || v.failure) continue;
      if (v.reply.why != spi::loss::none) {
        ++gone;
        refused.why = v.reply.why;
      }
      if (!v.reply.watch_key.empty()) refused.watch_key = v.reply.watch_key;
      if (v.reply.granted)
        split = true;
      else
        waits.push_back(v.reply.retry_after.value_or(1s));
    }
    if (converts() && gone > who_->size() - needed_) return {};
    refused.why = spi::loss::none;
    if (failures.size() > who_->size() - needed_) return worst(failures, who_->size());
    const int splits = std::atoi(claim_.place.c_str());
    claim_.place.clear();
    if (split || waits.empty()) {
      refused.retry_after = pause_after_split(boot_clock::now() - begun_, splits);
      claim_.place = std::to_string(splits + 1);
      return {};
    }
    std::ranges::sort(waits);
    const std::size_t enough = std::min(needed_, waits.size()) - 1;
    refused.retry_after = waits[enough] + detail::random_between<spi::milliseconds>(0ms, 10ms);
    return {};
  }

  // Votes that came, and those that are still on their way: a voter does one thing after the other.
  void give_back() {
    AFAR_FAULT("quorum.acquire.before_give_back");
    const auto by = boot_clock::now() + vote_time(lease_);
    for (std::size_t i = 0; i < who_->size(); ++i) {
      if (converts()) {
        stay_shared(i, by);
        continue;
      }
      const auto last = std::make_shared<ballot>(ballots_[i]->claim);
      last->claim.token = 0;  // never was a hold
      who_->all[i]->release(last->claim, by, [last](const spi::status&, spi::release_reply) {});
    }
  }

  // A reader that did not become the writer is a reader as before, also where it was the only one.
  void stay_shared(std::size_t i, spi::time_point by) {
    if (ballots_[i]->claim.mode != spi::access::exclusive || !votes_[i].reply.granted) return;
    const auto last = std::make_shared<ballot>(ballots_[i]->claim);
    last->claim.mode = spi::access::shared;
    last->claim.token = token_before_;
    who_->all[i]->acquire(last->claim, by,
                          [last](const spi::status&, const spi::acquire_reply&) {});
  }

  const voters_ptr who_;
  spi::claim& claim_;  // its place: how often in a row the vote was split
  const spi::time_point begun_;
  const spi::milliseconds lease_;
  const std::uint64_t token_before_;
  const spi::time_point by_;
  const std::size_t needed_;
  const ballots ballots_;

  std::mutex m_;  // voters answer on any thread
  phase phase_ = phase::voting;
  bool all_asked_ = false;
  std::vector<vote> votes_;
  std::size_t missing_;
  std::size_t granted_ = 0;
  std::size_t asked_ = 0;
  std::size_t confirmed_ = 0;
  std::uint64_t token_ = 0;
  spi::done<spi::acquire_reply> done_;
};

bool transient(const std::error_code& c) {
  return c == errc::unavailable || c == errc::timed_out || c == errc::unknown_outcome;
}

}  // namespace

spi::status worst(const std::vector<spi::status>& failures, std::size_t of) {
  for (const spi::status& s : failures)
    if (!transient(s.code)) return s;
  // Too little time for so many answers is not the same as servers that are away.
  const auto away = static_cast<std::size_t>(std::ranges::count_if(
      failures, [](const spi::status& s) { return s.code == errc::unavailable; }));
  return {away > of - (of / 2 + 1) ? errc::unavailable : errc::timed_out,
          std::to_string(of - failures.size()) + " of " + std::to_string(of) +
              " servers answer; another: " + failures.front().detail.str()};
}

void acquire(voters_ptr who, spi::claim& a, spi::time_point by,
             spi::done<spi::acquire_reply> done) {
  std::make_shared<acquisition>(std::move(who), a, by, std::move(done))->start();
}

}  // namespace afar::engines::quorum
