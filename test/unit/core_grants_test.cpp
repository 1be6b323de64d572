// Grants that the engine pushes to who waits.
#include "scripted_engine.hpp"

#include <gtest/gtest.h>

#include <future>

namespace {

using namespace afar;
using namespace afar::test;

TEST(core_grants, believes_a_pushed_grant_only_with_a_newer_token) {
  scripted s;
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  auto asked = s.engine->next(s.engine->acquires);
  const auto owner = asked.owner;
  asked.done({}, {.token = 5, .watch_key = "k"});
  ASSERT_TRUE(eventually([&] { return s.engine->watched == 1; }));  // from now on it hears grants
  s.engine->host.granted(owner, 5, 5, 30s);                         // old news: looks again instead
  s.refuse();
  s.engine->host.granted(owner, 6, 6, 30s);
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  EXPECT_EQ(h->token(), 6U);
  end_and_wait(s, h);
}

TEST(core_grants, renews_a_pushed_grant_before_it_ends_and_hands_it_on) {
  scripted s(1h);
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  auto asked = s.engine->next(s.engine->acquires);
  const auto owner = asked.owner;
  asked.done({}, {.token = 5, .watch_key = "k"});
  ASSERT_TRUE(eventually([&] { return s.engine->watched == 1; }));  // from now on it hears grants
  s.engine->host.granted(owner, 6, 8, 2s);
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  EXPECT_EQ(h->token(), 6U);
  EXPECT_LT(h->valid_until(), boot_clock::now() + 2s);
  auto r = s.engine->next(s.engine->renewals);  // not a third of an hour later
  ASSERT_EQ(r.claims, 1U);
  r.each(0, {}, {});
  EXPECT_TRUE(eventually([&] { return h->valid_until() > boot_clock::now() + 30min; }));
  end_and_wait(s, h);
}

TEST(core_grants, lets_the_answer_under_way_speak_when_a_grant_is_pushed_before_it) {
  scripted s;
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  auto asked = s.engine->next(s.engine->acquires);
  s.engine->host.granted(asked.owner, 6, 6, 2s);
  asked.done({}, {.granted = true, .token = 6, .last_token = 6});
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  const auto all = s.core->renewals().all();
  EXPECT_EQ(all.size(), 1U) << "entered twice";
  end_and_wait(s, h);
}

// The grant may be older than a question that was lost: its time is counted from the refusal.
TEST(core_grants, count_from_the_last_refusal_and_not_from_a_question_that_was_lost) {
  scripted s(1h);
  auto waiting = std::async(std::launch::async, [&] {
    spi::status status;
    return s.core->acquire(s.request(), status);
  });
  auto asked = s.engine->next(s.engine->acquires);
  const auto owner = asked.owner;
  asked.done({}, {.token = 5, .watch_key = "k"});
  ASSERT_TRUE(eventually([&] { return s.engine->watched == 1; }));
  const auto refused = boot_clock::now();
  s.engine->host.wake_all();
  // Each failure is followed by a longer pause, in the last of which the message comes.
  for (int i = 0; i < 11; ++i) s.engine->next(s.engine->acquires).done(errc::unavailable, {});
  s.engine->host.granted(owner, 6, 6, 5s);
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  EXPECT_EQ(h->token(), 6U);
  EXPECT_LT(h->valid_until(), refused + 5s);
  end_and_wait(s, h);
}

TEST(core_grants, asks_for_the_whole_of_a_lease_that_is_not_renewed) {
  scripted s;
  auto waiting = std::async(std::launch::async, [&] {
    auto r = s.request();
    r.renew = renewal::off;
    spi::status status;
    return s.core->acquire(std::move(r), status);
  });
  auto asked = s.engine->next(s.engine->acquires);
  const auto owner = asked.owner;
  asked.done({}, {.token = 5, .watch_key = "k"});
  ASSERT_TRUE(eventually([&] { return s.engine->watched == 1; }));  // from now on it hears grants
  s.engine->host.granted(owner, 6, 6, 2s);
  s.grant(6);
  const auto h = waiting.get();
  ASSERT_NE(h, nullptr);
  EXPECT_GT(h->valid_until(), boot_clock::now() + 2s);
  end_and_wait(s, h);
}

// Looks at a hold when it is released.
class looks_at_release final : public scripted_engine {
 public:
  explicit looks_at_release(spi::host& h) : scripted_engine(h) {}
  void release(const spi::claim&, spi::time_point, spi::done<spi::release_reply> d) override {
    valid = hold->valid();
    released = true;
    d({}, spi::release_reply::released);
  }
  hold_ptr hold;
  bool valid = false;
  bool released = false;
};

TEST(core, calls_a_hold_invalid_before_closing_gives_it_back) {
  looks_at_release* engine = nullptr;
  const auto core = std::make_shared<detail::core>(detail::settings{}, [&](spi::host& h) {
    auto e = std::make_unique<looks_at_release>(h);
    engine = e.get();
    return e;
  });
  core->start_acquire({.line = core->line(spi::kind::mutex, "name"), .by = {}},
                      [&](const spi::status&, hold_ptr h) { engine->hold = std::move(h); });
  engine->next(engine->acquires).done({}, {.granted = true, .token = 1});
  ASSERT_NE(engine->hold, nullptr);
  EXPECT_TRUE(engine->hold->valid());
  core->close();
  EXPECT_TRUE(engine->released);
  EXPECT_FALSE(engine->valid) << "another may have it by now";
  engine->hold->end({});
  engine->hold.reset();
}

}  // namespace
