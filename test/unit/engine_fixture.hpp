// Steps on an engine as plain calls, for engines that answer at once or soon after.
#pragma once

#include "engines/memory/memory_engine.hpp"
#include "owner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace afar::test {

using namespace std::chrono_literals;
using spi::kind;
using spi::loss;
using spi::release_reply;

// A clock that stands still unless told otherwise.
class manual_time final : public engines::memory::time_source {
 public:
  spi::time_point now() const noexcept override { return spi::time_point{1h + passed_.load()}; }
  std::chrono::microseconds calendar() const noexcept override {
    return 1'000s + std::chrono::floor<std::chrono::microseconds>(passed_.load());
  }
  void pass(std::chrono::nanoseconds t) { passed_ = passed_.load() + t; }

 private:
  std::atomic<std::chrono::nanoseconds> passed_{0ns};
};

// Collects what an engine tells.
class recording_host final : public spi::host {
 public:
  void wake(std::string_view key) noexcept override {
    std::lock_guard lock{mutex_};
    woken_.emplace_back(key);
  }
  void wake_all() noexcept override { wake("*"); }
  void granted(const spi::owner_id& to, std::uint64_t token, std::uint64_t last,
               spi::milliseconds lease) noexcept override {
    std::lock_guard lock{mutex_};
    grants_[to.number] = {.granted = true, .token = token, .last_token = last, .lease = lease};
  }
  void asked(const spi::owner_id& who) noexcept override {
    std::lock_guard lock{mutex_};
    ++asked_[who.number];
  }
  void session_lost() noexcept override {}

  // How often it was asked for.
  int asks_for(const spi::owner_id& who) {
    std::lock_guard lock{mutex_};
    return asked_[who.number];
  }
  std::vector<std::string> woken() {
    std::lock_guard lock{mutex_};
    return std::exchange(woken_, {});
  }
  // As told; not granted if it was not.
  spi::acquire_reply grant_of(const spi::owner_id& who) {
    std::lock_guard lock{mutex_};
    return grants_[who.number];
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> woken_;
  std::map<std::uint64_t, spi::acquire_reply> grants_;  // by the owner's number
  std::map<std::uint64_t, int> asked_;
};

template <class Reply>
struct answered {
  spi::status status;
  Reply reply;
};

// Calls `step(done)` and waits for the one answer.
template <class Reply, class Step>
answered<Reply> answer_of(Step step) {
  std::promise<answered<Reply>> promise;
  auto future = promise.get_future();
  step(spi::done<Reply>{
      [&promise](spi::status s, Reply r) { promise.set_value({std::move(s), std::move(r)}); }});
  return future.get();
}

inline constexpr spi::time_point never = spi::time_point::max();

inline spi::claim claim_of(std::uint64_t n, std::string_view name, kind k = kind::mutex) {
  spi::claim a;
  a.what = {k, name};
  a.owner = owner(n);
  a.lease = 10s;
  return a;
}

inline answered<spi::acquire_reply> acquire(spi::engine& e, spi::claim& a) {
  return answer_of<spi::acquire_reply>([&](auto done) { e.acquire(a, never, std::move(done)); });
}
inline answered<spi::acquire_reply> acquire(spi::engine& e, std::uint64_t n, std::string_view name,
                                            kind k = kind::mutex) {
  spi::claim a = claim_of(n, name, k);
  return acquire(e, a);
}
inline answered<release_reply> release(spi::engine& e, std::uint64_t n, std::string_view name) {
  const spi::claim a = claim_of(n, name);
  return answer_of<release_reply>([&](auto done) { e.release(a, never, std::move(done)); });
}
inline answered<spi::cell_reply> change(spi::engine& e, const spi::cell_change& ch) {
  return answer_of<spi::cell_reply>([&](auto done) { e.change(ch, never, std::move(done)); });
}
inline spi::cell_change add(std::int64_t n, std::string_view name) {
  spi::cell_change ch;
  ch.what = {kind::counter, name};
  ch.action = spi::cell_action::add;
  ch.operand = n;
  ch.initial = 0;
  return ch;
}
inline answered<spi::ledger_reply> record(spi::engine& e, const spi::ledger_change& ch) {
  return answer_of<spi::ledger_reply>([&](auto done) { e.record(ch, never, std::move(done)); });
}
inline bool watch(spi::engine& e, std::string_view key) {
  return answer_of<spi::watch_reply>([&](auto done) { e.watch(key, std::move(done)); })
      .reply.recheck;
}
inline spi::survey_reply survey(spi::engine& e, const spi::survey_query& q) {
  return answer_of<spi::survey_reply>([&](auto done) { e.survey(q, never, std::move(done)); })
      .reply;
}

}  // namespace afar::test
