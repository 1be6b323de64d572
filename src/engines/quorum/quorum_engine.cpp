#include "engines/quorum/quorum_engine.hpp"

#include "engines/quorum/acquisition.hpp"
#include "engines/quorum/survey.hpp"
#include "engines/quorum/tally.hpp"

#include <bit>
#include <chrono>
#include <future>
#include <utility>

namespace afar::engines::quorum {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view claims_only =
    "a majority of servers agrees on who holds a name, not on the order of a line nor on a number; "
    "mutex, shared_mutex, leased_semaphore and election work";

spi::traits traits_of(std::string_view name) {
  spi::traits t;
  t.name = name;
  t.kinds = spi::bit(spi::kind::mutex) | spi::bit(spi::kind::shared_mutex) |
            spi::bit(spi::kind::permits) | spi::bit(spi::kind::election);
  t.why_not = claims_only;
  t.poll = 250ms;
  t.fifo = false;
  t.survives_restart = true;   // of fewer than half
  t.survives_failover = true;  // there is none
  return t;
}

// One step that all voters do and that enough of them must confirm.
template <class Reply>
struct poll_of {
  poll_of(std::size_t voters, std::size_t needed, spi::done<Reply> then)
      : votes(voters, needed), done(std::move(then)) {}

  void answered(const spi::status& s, bool yes, Reply if_yes, Reply if_no) {
    std::optional<tally::verdict> v;
    {
      const std::lock_guard lock{m};
      v = votes.count(s, yes);
    }
    if (v) done(std::move(v->failure), v->yes ? if_yes : if_no);
  }

  std::mutex m;
  tally votes;
  spi::done<Reply> done;
};

}  // namespace

// ---- wakes --------------------------------------------------------------------------------------

void wakes::watch(const std::string& key) {
  const std::lock_guard lock{m_};
  heard_.try_emplace(key, 0);
}

void wakes::unwatch(const std::string& key) {
  const std::lock_guard lock{m_};
  heard_.erase(key);
}

bool wakes::heard(std::string_view key, std::size_t voter) {
  const std::lock_guard lock{m_};
  const auto at = heard_.find(key);
  if (at == heard_.end()) return false;
  at->second |= std::uint32_t{1} << voter;
  if (static_cast<std::size_t>(std::popcount(at->second)) < majority_) return false;
  at->second = 0;
  return true;
}

// ---- open and close -----------------------------------------------------------------------------

quorum_engine::quorum_engine(std::string_view name, std::size_t n, spi::host& up, opener open)
    : about_(traits_of(name)), wakes_(n / 2 + 1) {
  for (std::size_t i = 0; i < n; ++i) ears_.push_back(std::make_unique<ear>(up, wakes_, i));
  // At once: one that does not answer takes its whole time.
  std::vector<std::future<std::unique_ptr<spi::engine>>> opening;
  opening.reserve(n);
  for (std::size_t i = 0; i < n; ++i)
    opening.push_back(std::async(std::launch::async, [&, i] { return open(i, *ears_[i]); }));
  std::exception_ptr failed;
  for (auto& one : opening) try {
      who_->all.push_back(one.get());
    } catch (...) {
      failed = std::current_exception();
    }
  if (!failed) return;
  close();
  std::rethrow_exception(failed);
}

void quorum_engine::close() noexcept {
  if (closed_.exchange(true)) return;
  for (const auto& v : who_->all) v->close();
}

// ---- claims -------------------------------------------------------------------------------------

void quorum_engine::acquire(spi::claim& a, spi::time_point by, spi::done<spi::acquire_reply> done) {
  quorum::acquire(who_, a, by, std::move(done));
}

void quorum_engine::renew(std::span<spi::claim* const> claims, spi::time_point by,
                          spi::renewed each) {
  struct batch {
    std::mutex m;
    std::vector<tally> votes;
    std::vector<spi::milliseconds> leases;
    std::vector<spi::loss> why;
    std::vector<ballots> ballots_of;  // per voter, one per claim
    spi::renewed each;
  };
  const auto all = std::make_shared<batch>();
  all->each = std::move(each);
  for (const spi::claim* a : claims) {
    all->votes.emplace_back(who_->size(), who_->needed(a->what.kind, a->limit));
    all->leases.push_back(a->lease);
    all->why.push_back(spi::loss::expired);
  }
  for (std::size_t v = 0; v < who_->size(); ++v) {
    auto& mine = all->ballots_of.emplace_back();
    for (const spi::claim* a : claims) mine.push_back(std::make_unique<ballot>(*a));
  }
  for (std::size_t v = 0; v < who_->size(); ++v) {
    std::vector<spi::claim*> asked;
    for (const auto& b : all->ballots_of[v]) asked.push_back(&b->claim);
    who_->all[v]->renew(asked, by,
                        [all](std::size_t i, const spi::status& s, const spi::renew_reply& r) {
                          std::optional<tally::verdict> verdict;
                          spi::renew_reply out;
                          {
                            const std::lock_guard lock{all->m};
                            if (!s && r.why == spi::loss::evicted) all->why[i] = r.why;
                            verdict = all->votes[i].count(s, r.why == spi::loss::none);
                            out = {all->why[i], {}};
                          }
                          if (!verdict) return;
                          if (verdict->yes) out = {spi::loss::none, all->leases[i]};
                          all->each(i, std::move(verdict->failure), out);
                        });
  }
}

void quorum_engine::release(const spi::claim& a, spi::time_point by,
                            spi::done<spi::release_reply> done) {
  using enum spi::release_reply;
  const auto all = std::make_shared<poll_of<spi::release_reply>>(
      who_->size(), who_->needed(a.what.kind, a.limit), std::move(done));
  for (const auto& v : who_->all) {
    const auto last = std::make_shared<ballot>(a);
    v->release(last->claim, by, [all, last](const spi::status& s, spi::release_reply r) {
      all->answered(s, r == released, released, gone);
    });
  }
}

void quorum_engine::evict(const spi::resource& what, const spi::owner_id& owner,
                          std::uint64_t token, spi::time_point by,
                          spi::done<spi::release_reply> done) {
  using enum spi::release_reply;
  const auto name = std::make_shared<const std::string>(what.name);
  const auto all =
      std::make_shared<poll_of<spi::release_reply>>(who_->size(), majority(), std::move(done));
  for (const auto& v : who_->all)
    v->evict({what.kind, *name}, owner, token, by,
             [all, name](const spi::status& s, spi::release_reply r) {
               all->answered(s, r == released, released, gone);
             });
}

// ---- what it has not ----------------------------------------------------------------------------

void quorum_engine::change(const spi::cell_change&, spi::time_point,
                           spi::done<spi::cell_reply> done) {
  done({errc::unsupported, std::string{claims_only}}, {});
}

void quorum_engine::record(const spi::ledger_change&, spi::time_point,
                           spi::done<spi::ledger_reply> done) {
  done({errc::unsupported, std::string{claims_only}}, {});
}

// ---- watching and looking -----------------------------------------------------------------------

void quorum_engine::watch(std::string_view key, spi::done<spi::watch_reply> done) {
  wakes_.watch(std::string{key});
  const auto name = std::make_shared<const std::string>(key);
  const auto all =
      std::make_shared<poll_of<spi::watch_reply>>(who_->size(), majority(), std::move(done));
  for (const auto& v : who_->all)
    v->watch(*name, [all, name](const spi::status& s, spi::watch_reply) {
      all->answered(s, true, {.recheck = true}, {});
    });
}

void quorum_engine::unwatch(std::string_view key) noexcept {
  wakes_.unwatch(std::string{key});
  for (const auto& v : who_->all) v->unwatch(key);
}

void quorum_engine::survey(const spi::survey_query& q, spi::time_point by,
                           spi::done<spi::survey_reply> done) {
  quorum::survey(who_, q, by, std::move(done));
}

void quorum_engine::examine(spi::time_point by, spi::done<std::vector<finding>> done) {
  quorum::examine(who_, by, std::move(done));
}

void quorum_engine::collect(spi::time_point by, spi::done<std::uint64_t> done) {
  struct sum {
    std::mutex m;
    std::size_t missing = 0;
    std::uint64_t removed = 0;
    spi::done<std::uint64_t> done;
  };
  const auto all = std::make_shared<sum>();
  all->missing = who_->size();
  all->done = std::move(done);
  for (const auto& v : who_->all)
    v->collect(by, [all](const spi::status&, std::uint64_t n) {
      {
        const std::lock_guard lock{all->m};
        all->removed += n;
        if (--all->missing > 0) return;
      }
      all->done({}, all->removed);
    });
}

}  // namespace afar::engines::quorum
