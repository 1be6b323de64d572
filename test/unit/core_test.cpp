// The core around an engine that answers late, never, twice asked or oddly.
#include "scripted_engine.hpp"

#include "core/timers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

namespace {

using namespace afar;
using namespace afar::test;
using detail::deadline;

TEST(core, gives_back_a_grant_that_comes_after_the_deadline) {
  scripted s;
  spi::status status;
  const auto began = boot_clock::now();
  EXPECT_EQ(s.core->acquire(s.request(deadline::after(30ms)), status), nullptr);
  EXPECT_EQ(status.code, errc::timed_out);
  EXPECT_LT(boot_clock::now() - began, 5s);
  EXPECT_EQ(s.engine->count(s.engine->releases), 0U);
  s.grant(7);
  s.confirm_release();
}

TEST(core, gives_back_a_grant_that_comes_after_a_cancellation) {
  scripted s;
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    s.core->acquire(s.request({}, stop.get_token()), status);
    return status.code;
  });
  auto asked = s.engine->next(s.engine->acquires);
  stop.request_stop();
  EXPECT_EQ(waiting.get(), errc::cancelled);
  asked.done({}, {.granted = true, .token = 7});
  s.confirm_release();
}

TEST(core, asks_again_with_the_same_owner_when_an_answer_was_lost) {
  scripted s;
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  auto first = s.engine->next(s.engine->acquires);
  const auto owner = first.owner;
  first.done(errc::unknown_outcome, {});
  auto second = s.engine->next(s.engine->acquires);
  EXPECT_EQ(second.owner, owner);
  second.done({}, {.granted = true, .token = 9});
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  EXPECT_EQ(h->token(), 9U);
  end_and_wait(s, h);
}

TEST(core, does_not_believe_a_grant_that_took_longer_than_its_lease) {
  scripted s(60ms);
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  auto late = s.engine->next(s.engine->acquires);
  std::this_thread::sleep_for(70ms);  // holds the answer back
  late.done({}, {.granted = true, .token = 1});
  s.grant(2);
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  EXPECT_EQ(h->token(), 2U);
  h->end({});
  s.confirm_release();
}

TEST(core, does_not_wait_for_the_answer_to_an_unlock) {
  scripted s;
  const auto h = s.acquire_granted(1);
  ASSERT_NE(h, nullptr);
  h->end({});
  EXPECT_FALSE(h->valid());
  s.confirm_release();
}

TEST(core, repeats_a_release_until_it_is_confirmed) {
  scripted s;
  const auto h = s.acquire_granted(1);
  std::atomic<int> ended{0};
  h->end([&](const spi::status& st) { ended = st ? 2 : 1; });
  for (int i = 0; i < 3; ++i)
    s.engine->next(s.engine->releases).done(errc::unavailable, spi::release_reply::gone);
  EXPECT_EQ(ended.load(), 0);
  s.confirm_release();
  EXPECT_TRUE(eventually([&] { return ended == 1; }));
}

TEST(core, says_busy_to_a_try_when_the_lock_it_saw_released_goes_to_another) {
  scripted s;
  const auto first = s.acquire_granted(1);
  std::promise<hold_ptr> second;
  s.core->start_acquire(s.request(),
                        [&](const spi::status&, hold_ptr h) { second.set_value(std::move(h)); });
  first->end({});
  // While the release is under way "busy" would be wrong, so the try waits for its answer.
  std::atomic<bool> busy{false};
  s.core->start_acquire(
      s.request(deadline::no_wait()),
      [&](const spi::status& st, const hold_ptr&) { busy = st.code == errc::timed_out; });
  EXPECT_FALSE(busy);
  s.confirm_release();
  EXPECT_TRUE(eventually([&] { return busy.load(); }, 200ms)) << "it waits for a holder";
  s.grant(5, 7);
  const auto h = second.get_future().get();
  ASSERT_NE(h, nullptr);
  end_and_wait(s, h);
}

TEST(core, waits_for_the_answer_to_its_own_release_before_it_says_busy) {
  scripted s;
  const auto h = s.acquire_granted(1);
  h->end({});
  auto trying = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(deadline::no_wait()), status);
  });
  s.confirm_release();
  s.grant(2);
  const auto next = trying.get();
  ASSERT_NE(next, nullptr);
  end_and_wait(s, next);
}

TEST(core, asks_behind_a_release_without_its_answer_where_steps_are_ordered) {
  scripted s;
  s.engine->traits.ordered = true;
  const auto h = s.acquire_granted(1);
  auto next = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  ASSERT_TRUE(eventually([&] { return s.line->waiting() == 1; }));
  h->end({});
  s.grant(2);  // throws if nobody asks
  EXPECT_NE(next.get(), nullptr);
  s.confirm_release();
}

TEST(core, tells_the_holder_before_the_lease_ends_when_renewals_are_not_answered) {
  scripted s(300ms);
  const auto before = boot_clock::now();
  const auto h = s.acquire_granted(1);
  ASSERT_NE(h, nullptr);
  std::atomic<std::int64_t> told{0};
  const std::stop_callback on_loss{h->lost(),
                                   [&] { told = boot_clock::now().time_since_epoch().count(); }};
  ASSERT_TRUE(eventually([&] { return told != 0; }));
  EXPECT_FALSE(h->valid());
  EXPECT_EQ(h->why(), loss_reason::unreachable);
  EXPECT_GE(s.engine->count(s.engine->renewals), 1U);
  // The server's lease began after `before`: nobody else can have had it when we were told.
  EXPECT_LE(boot_clock::time_point{boot_clock::duration{told}}, before + 300ms + 200ms);
  h->end({});
  s.confirm_release();
}

// As in a process that was stopped and goes on: the holder's thread may be the first to run.
class timers_stand_still {
 public:
  timers_stand_still() {
    std::promise<void> stands;
    auto standing = stands.get_future();
    detail::timers::shared().at(boot_clock::now(),
                                [stands = std::move(stands), over = over_]() mutable {
                                  stands.set_value();
                                  over->wait();
                                });
    standing.wait();
  }
  timers_stand_still(const timers_stand_still&) = delete;
  timers_stand_still& operator=(const timers_stand_still&) = delete;
  ~timers_stand_still() { go_on(); }
  void go_on() {
    if (!over_->try_wait()) over_->count_down();
  }

 private:
  const std::shared_ptr<std::latch> over_ = std::make_shared<std::latch>(1);
};

TEST(core, calls_a_hold_invalid_at_its_time_although_nobody_could_tell_the_holder) {
  scripted s(200ms);
  const auto h = s.acquire_granted(1);
  ASSERT_NE(h, nullptr);
  timers_stand_still stopped;
  EXPECT_TRUE(eventually([&] { return boot_clock::now() >= h->valid_until(); }));
  EXPECT_FALSE(h->lost().stop_requested());
  EXPECT_FALSE(h->valid());
  stopped.go_on();
  EXPECT_TRUE(eventually([&] { return h->lost().stop_requested(); }));
  h->end({});
  s.confirm_release();
}

// Torture (redis_cut_off): the answer to a renewal came when the holder had been told, and nobody else yet.
TEST(core, calls_no_hold_valid_again_although_its_renewal_is_confirmed) {
  scripted s(600ms);
  const auto h = s.acquire_granted(1);
  ASSERT_NE(h, nullptr);
  auto renewal = s.engine->next(s.engine->renewals);
  timers_stand_still stopped;
  EXPECT_TRUE(eventually([&] { return boot_clock::now() >= h->valid_until(); }));
  EXPECT_FALSE(h->valid());
  renewal.each(0, {}, {.lease = 60s});
  EXPECT_FALSE(h->valid());
  EXPECT_TRUE(eventually([&] { return h->lost().stop_requested(); }));
  stopped.go_on();
  h->end({});
  s.confirm_release();
}

TEST(core, renews_again_after_a_renewal_that_failed) {
  scripted s(600ms);
  const auto h = s.acquire_granted(1);
  auto first = s.engine->next(s.engine->renewals);
  first.each(0, errc::unavailable, {});
  auto second = s.engine->next(s.engine->renewals);
  const auto before = h->valid_until();
  second.each(0, {}, {.lease = 600ms});
  EXPECT_TRUE(eventually([&] { return h->valid_until() > before; }));
  EXPECT_TRUE(h->valid());
  h->end({});
  s.confirm_release();
}

TEST(core, renews_nothing_after_a_release) {
  scripted s(60ms);
  const auto h = s.acquire_granted(1);
  h->end({});
  s.confirm_release();
  const auto before = s.engine->count(s.engine->renewals);  // a slow machine may have had one
  std::this_thread::sleep_for(80ms);  // longer than the lease: a renewal would have come
  EXPECT_EQ(s.engine->count(s.engine->renewals), before);
}

TEST(core, ends_a_hold_at_once_when_the_renewal_says_gone) {
  scripted s(300ms);
  const auto h = s.acquire_granted(1);
  s.engine->next(s.engine->renewals).each(0, {}, {.why = spi::loss::evicted});
  EXPECT_TRUE(eventually([&] { return !h->valid(); }));
  EXPECT_EQ(h->why(), loss_reason::evicted);
  std::atomic<bool> lost{false};
  h->end([&](const spi::status& st) { lost = st.code == errc::lost; });
  s.confirm_release();
  EXPECT_TRUE(eventually([&] { return lost.load(); }));
}

TEST(core, hands_the_lock_on_locally_with_growing_tokens_and_within_bounds) {
  scripted s(30s, 2);
  auto h = s.acquire_granted(1);
  std::vector<std::future<hold_ptr>> waiting;
  for (int i = 0; i < 4; ++i)
    waiting.push_back(std::async(std::launch::async, [&] {
      spi::status status;
      return s.core->acquire(s.request(), status);
    }));
  std::vector<hold_ptr> holds;
  const auto arrived = [&] {
    for (auto& w : waiting)
      if (w.valid() && w.wait_for(0s) == std::future_status::ready) {
        holds.push_back(w.get());
        return true;
      }
    return false;
  };
  // All must stand in line before the first release. A quiet line reserves no tokens, so the first
  // hold goes back to the engine; the next one knows that others wait.
  ASSERT_TRUE(eventually([&] { return s.line->waiting() == 4; }));
  h->end({});
  s.confirm_release();
  s.grant(10, 12);
  ASSERT_TRUE(eventually(arrived));
  EXPECT_EQ(holds[0]->token(), 10U);
  holds[0]->end({});
  ASSERT_TRUE(eventually(arrived));
  EXPECT_EQ(holds[1]->token(), 11U);
  EXPECT_EQ(s.engine->count(s.engine->releases), 0U);
  holds[1]->end({});
  ASSERT_TRUE(eventually(arrived));
  EXPECT_EQ(holds[2]->token(), 12U);
  holds[2]->end({});  // the block is used up: the last one asks the engine
  s.confirm_release();
  s.grant(20, 22);
  ASSERT_TRUE(eventually(arrived));
  EXPECT_EQ(holds[3]->token(), 20U);
  end_and_wait(s, holds[3]);
}

TEST(core, tells_a_holder_that_is_asked_to_give_back_but_keeps_its_hold) {
  scripted s;
  const auto h = s.acquire_granted(1);
  const auto lost = h->lost();
  s.engine->host.asked(h->claim().owner);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(h->why(), loss_reason::asked);
  EXPECT_TRUE(h->valid());
  end_and_wait(s, h);
}

TEST(core, ends_every_hold_when_the_session_is_lost) {
  scripted s;
  const auto h = s.acquire_granted(1);
  const auto lost = h->lost();
  s.engine->host.session_lost();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(h->why(), loss_reason::session);
  h->end({});
  s.confirm_release();
}

TEST(core, repeats_a_change_under_its_number_and_numbers_a_new_attempt_anew) {
  scripted s;
  auto changing = std::async(std::launch::async, [&] {
    spi::cell_reply reply;
    detail::cell_request r{.name = std::make_shared<const std::string>("cell"),
                           .goal = detail::cell_request::until::applied};
    return s.core->change(std::move(r), reply).code;
  });
  s.engine->next(s.engine->changes).done(errc::unknown_outcome, {});
  s.engine->next(s.engine->changes).done({}, {.applied = false, .watch_key = "w"});
  s.engine->host.wake("w");
  s.engine->next(s.engine->changes).done({}, {.applied = true});
  EXPECT_FALSE(changing.get());
  const auto& ids = s.engine->change_ids;
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_EQ(ids[0].owner, ids[1].owner);
  EXPECT_GT(ids[2].owner.number, ids[1].owner.number);
  EXPECT_EQ(ids[2].settled, ids[2].owner.number) << "everything before it has its answer";
}

TEST(core, ends_waits_and_holds_when_the_client_closes) {
  scripted s;
  const auto h = s.acquire_granted(1);
  const auto lost = h->lost();
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    s.core->acquire(s.request(), status);
    return status.code;
  });
  ASSERT_TRUE(eventually([&] { return s.line->waiting() == 1; }));
  std::jthread answering([&] { s.confirm_release(); });
  s.core->close();
  EXPECT_EQ(waiting.get(), errc::closed);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_EQ(h->why(), loss_reason::closed);
  spi::status after;
  EXPECT_EQ(s.core->acquire(s.request(), after), nullptr);
  EXPECT_EQ(after.code, errc::closed);
}

// Waits for a name, by its own thread; ends when the client closes.
auto waits_for(scripted& s, const std::string& name) {
  return std::async(std::launch::async, [&s, name] {
    spi::status status;
    s.core->acquire(s.request_of(name), status);
    return status.code;
  });
}

TEST(core, watches_again_for_who_comes_after_a_watch_that_failed) {
  scripted s;
  s.engine->watches_by_hand = true;
  auto first = waits_for(s, "a");
  s.refuse();
  s.engine->next(s.engine->watches).done(errc::unavailable, {});
  auto second = waits_for(s, "b");
  while (s.engine->count(s.engine->watches) == 0) s.refuse();  // the first one looks again, too
  s.engine->next(s.engine->watches).done({}, {.recheck = false});
  s.engine->watches_by_hand = false;
  std::jthread answering([&] {
    while (s.engine->count(s.engine->acquires) > 0 || s.engine->count(s.engine->releases) < 2)
      if (s.engine->count(s.engine->acquires) > 0) s.refuse();
    s.confirm_release();
    s.confirm_release();
  });
  s.core->close();
  EXPECT_EQ(first.get(), errc::closed);
  EXPECT_EQ(second.get(), errc::closed);
}

// Answers on the caller's stack; while a question is answered its client closes.
class closed_meanwhile final : public scripted_engine {
 public:
  closed_meanwhile(spi::host& h, std::function<void()> close_client, bool grants)
      : scripted_engine(h), close_client_(std::move(close_client)), grants_(grants) {
    traits = {.name = "inline", .try_time = 300ms, .inline_steps = true};
  }

  void acquire(spi::claim&, spi::time_point, spi::done<spi::acquire_reply> d) override {
    closing_ = std::async(std::launch::async, close_client_);
    closing_.wait_for(200ms);  // enough for a close() that does not wait for this call
    d({}, {.granted = grants_, .token = 7, .watch_key = "k"});
  }
  void release(const spi::claim&, spi::time_point, spi::done<spi::release_reply> d) override {
    released_before_close = !closed_;
    d({}, spi::release_reply::released);
  }
  void close() noexcept override { closed_ = true; }
  void wait_until_closed() { closing_.get(); }

  std::atomic<bool> released_before_close{false};

 private:
  std::function<void()> close_client_;
  const bool grants_;
  std::atomic<bool> closed_{false};
  std::future<void> closing_;
};

struct closing_core {
  explicit closing_core(bool grants) {
    detail::settings s;
    s.url = "inline:";
    core = std::make_shared<detail::core>(s, [&](spi::host& h) {
      auto e = std::make_unique<closed_meanwhile>(h, [this] { core->close(); }, grants);
      engine = e.get();
      return e;
    });
  }
  detail::claim_request request() { return {.line = core->line(spi::kind::mutex, "name")}; }

  closed_meanwhile* engine = nullptr;
  std::shared_ptr<detail::core> core;
};

TEST(core, takes_back_what_is_asked_for_while_the_client_closes) {
  for (const bool grants : {false, true}) {
    closing_core c{grants};
    spi::status status;
    const auto got = c.core->acquire(c.request(), status);
    c.engine->wait_until_closed();
    EXPECT_EQ(got != nullptr, grants);
    EXPECT_TRUE(c.engine->released_before_close) << grants;
  }
}

TEST(core, takes_back_what_a_started_call_asks_for_while_the_client_closes) {
  for (const bool grants : {false, true}) {
    closing_core c{grants};
    std::promise<std::error_code> told;
    hold_ptr got;
    c.core->start_acquire(c.request(), [&](const spi::status& s, hold_ptr h) {
      got = std::move(h);
      told.set_value(s.code);
    });
    c.engine->wait_until_closed();
    EXPECT_EQ(told.get_future().get(), grants ? std::error_code{} : errc::closed);
    EXPECT_TRUE(c.engine->released_before_close) << grants;
  }
}

}  // namespace
