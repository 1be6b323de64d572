// An engine whose answers the test gives by hand, when it likes and what it likes: for the core's
// behaviour around slow, lost and odd answers.
#pragma once

#include "core/core.hpp"
#include "core/hold_state.hpp"

#include <afar/spi/engine.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace afar::test {

using namespace std::chrono_literals;
using detail::hold_ptr;

inline bool eventually(const std::function<bool()>& what, std::chrono::milliseconds within = 10s) {
  const auto until = boot_clock::now() + within;
  while (!what()) {
    if (boot_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class scripted_engine : public spi::engine {
 public:
  template <class Reply>
  struct call {
    spi::owner_id owner;
    spi::done<Reply> done;
  };
  struct renewal_call {
    std::size_t claims;
    std::uint64_t token;  // of the first
    spi::renewed each;
    std::chrono::milliseconds lease = {};
  };
  struct wish {
    std::chrono::milliseconds lease;
    std::chrono::milliseconds linger;
    std::uint32_t handoffs;
  };

  explicit scripted_engine(spi::host& h) : host(h) {}

  const spi::traits& about() const noexcept override { return traits; }
  void acquire(spi::claim& c, spi::time_point, spi::done<spi::acquire_reply> d) override {
    const std::lock_guard lock(m);
    wishes.push_back({c.lease, c.linger, c.handoffs});
    acquires.push_back({c.owner, std::move(d)});
  }
  void renew(std::span<spi::claim* const> c, spi::time_point, spi::renewed each) override {
    const std::lock_guard lock(m);
    renewals.push_back({c.size(), c.front()->token, std::move(each), c.front()->lease});
  }
  void release(const spi::claim& c, spi::time_point, spi::done<spi::release_reply> d) override {
    const std::lock_guard lock(m);
    releases.push_back({c.owner, std::move(d)});
  }
  void change(const spi::cell_change& c, spi::time_point, spi::done<spi::cell_reply> d) override {
    const std::lock_guard lock(m);
    change_ids.push_back(c.id);
    changes.push_back({c.id.owner, std::move(d)});
  }
  void record(const spi::ledger_change&, spi::time_point, spi::done<spi::ledger_reply> d) override {
    d(errc::unsupported, {});
  }
  void watch(std::string_view, spi::done<spi::watch_reply> d) override {
    ++watched;
    if (watches_by_hand) {
      const std::lock_guard lock(m);
      watches.push_back({{}, std::move(d)});
      return;
    }
    d({}, {.recheck = false});
  }
  void unwatch(std::string_view) noexcept override {}
  void survey(const spi::survey_query&, spi::time_point, spi::done<spi::survey_reply> d) override {
    d(errc::unsupported, {});
  }
  void evict(const spi::resource&, const spi::owner_id&, std::uint64_t, spi::time_point,
             spi::done<spi::release_reply> d) override {
    d(errc::unsupported, {});
  }
  void nudge() noexcept override {
    if (on_nudge) on_nudge();
  }
  void glance() noexcept override { ++glances; }
  void close() noexcept override {}

  wish last_wish() {
    const std::lock_guard lock(m);
    return wishes.back();
  }
  // Waits until the engine is asked and takes the oldest question.
  template <class Call>
  Call next(std::deque<Call>& calls) {
    if (!eventually([&] { return count(calls) > 0; })) throw std::runtime_error("nobody asked");
    const std::lock_guard lock(m);
    Call c = std::move(calls.front());
    calls.pop_front();
    return c;
  }
  // Drops what was never answered: the answers keep the core alive, and that keeps the engine.
  void forget_questions() {
    const std::lock_guard lock(m);
    acquires.clear();
    renewals.clear();
    releases.clear();
    changes.clear();
    watches.clear();
  }
  template <class Call>
  std::size_t count(const std::deque<Call>& calls) {
    const std::lock_guard lock(m);
    return calls.size();
  }

  spi::host& host;
  spi::traits traits{.name = "scripted",
                     .token_block = 4,
                     .sticky_block = 1'000,
                     .try_time = 300ms,
                     .pushes_grants = true};
  std::mutex m;
  std::deque<call<spi::acquire_reply>> acquires;
  std::vector<wish> wishes;  // one for each
  std::atomic<int> glances{0};
  std::deque<renewal_call> renewals;
  std::deque<call<spi::release_reply>> releases;
  std::deque<call<spi::cell_reply>> changes;
  std::vector<spi::op_id> change_ids;
  std::atomic<int> watched{0};
  std::atomic<bool> watches_by_hand{false};
  std::function<void()> on_nudge;
  std::deque<call<spi::watch_reply>> watches;
};

// A core over a scripted engine, and requests for one name.
struct scripted {
  explicit scripted(std::chrono::milliseconds lease = 30s, std::uint32_t handoff = 2,
                    std::chrono::milliseconds sticky = 0ms) {
    detail::settings s;
    s.lease = lease;
    s.handoff = handoff;
    s.sticky = sticky;
    s.streak = 1h;  // tests own the time
    s.url = "scripted:";
    core = std::make_shared<detail::core>(s, [this](spi::host& h) {
      auto e = std::make_unique<scripted_engine>(h);
      engine = e.get();
      return e;
    });
    line = core->line(spi::kind::mutex, "name");
  }

  scripted(const scripted&) = delete;
  scripted& operator=(const scripted&) = delete;
  ~scripted() { engine->forget_questions(); }

  // Another name, refused so that it waits for the same key.
  detail::claim_request request_of(const std::string& name) {
    return {.line = core->line(spi::kind::mutex, name), .by = {}};
  }
  detail::claim_request request(detail::deadline by = {}, std::stop_token stop = {}) {
    return {.line = line, .by = by, .stop = std::move(stop)};
  }
  // Acquires on the caller's thread while another thread grants.
  hold_ptr acquire_granted(std::uint64_t token, std::uint64_t last = 0) {
    std::jthread granter([&] { grant(token, last); });
    spi::status s;
    auto h = core->acquire(request(), s);
    return s ? nullptr : h;
  }
  void grant(std::uint64_t token, std::uint64_t last = 0) {
    engine->next(engine->acquires).done({}, {.granted = true, .token = token, .last_token = last});
  }
  void refuse() { engine->next(engine->acquires).done({}, {.watch_key = "k"}); }
  void confirm_release() { engine->next(engine->releases).done({}, spi::release_reply::released); }

  scripted_engine* engine = nullptr;
  std::shared_ptr<detail::core> core;
  std::shared_ptr<detail::local_line> line;
};

// Releases, and has the engine agree.
inline void end_and_wait(scripted& s, const hold_ptr& h) {
  std::atomic<bool> ended{false};
  h->end([&](const spi::status&) { ended = true; });
  s.confirm_release();
  ASSERT_TRUE(eventually([&] { return ended.load(); }));
}

}  // namespace afar::test
