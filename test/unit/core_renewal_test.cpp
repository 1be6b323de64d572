// How the core renews what is held where that is much: in few requests, in portions, while answers come in.
#include "core/timers.hpp"
#include "scripted_engine.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using namespace afar;
using namespace afar::test;

TEST(core, renews_at_once_what_the_engine_may_have_forgotten) {
  scripted s(1h);
  const auto h = s.acquire_granted(1);
  s.engine->host.in_doubt();
  auto r = s.engine->next(s.engine->renewals);
  ASSERT_EQ(r.claims, 1U);
  r.each(0, {}, {.why = spi::loss::expired});
  EXPECT_TRUE(eventually([&] { return h->lost().stop_requested(); }));
  EXPECT_EQ(h->why(), loss_reason::expired);
  h->end({});
}

std::vector<hold_ptr> hold_many(scripted& s, std::size_t many) {
  std::vector<hold_ptr> holds;
  for (std::size_t i = 0; i < many; ++i) {
    detail::claim_request r{.line = s.core->line(spi::kind::mutex, "n" + std::to_string(i))};
    s.core->start_acquire(std::move(r),
                          [&](const spi::status&, hold_ptr h) { holds.push_back(std::move(h)); });
    s.grant(i + 1);
  }
  EXPECT_EQ(holds.size(), many);
  return holds;
}

void end_all(scripted& s, std::vector<hold_ptr>& holds) {
  for (auto& h : holds) {
    h->end({});
    s.confirm_release();
  }
}

TEST(core, renews_many_holds_with_few_requests) {
  scripted s(900ms);
  constexpr std::size_t many = 1'000;
  auto holds = hold_many(s, many);
  std::size_t renewed = 0, requests = 0;
  while (renewed < many) {
    auto r = s.engine->next(s.engine->renewals);
    ++requests;
    renewed += r.claims;
    for (std::size_t i = 0; i < r.claims; ++i) r.each(i, {}, {.lease = 900ms});
  }
  EXPECT_LE(requests, 10U);
  end_all(s, holds);
}

// A server that does one thing at a time would have no time for others.
TEST(core, renews_very_many_holds_in_portions_with_a_rest_between_them) {
  scripted s(1h);  // a rest is half a second then
  auto holds = hold_many(s, 300);
  s.engine->host.in_doubt();
  std::size_t renewed = 0;
  for (const std::size_t portion : {104U, 104U, 92U}) {
    auto r = s.engine->next(s.engine->renewals);
    EXPECT_EQ(r.claims, portion);
    EXPECT_EQ(s.engine->count(s.engine->renewals), 0U);
    for (std::size_t i = 0; i < r.claims; ++i) r.each(i, {}, {.lease = 1h});
    renewed += r.claims;
  }
  EXPECT_EQ(renewed, holds.size());
  end_all(s, holds);
}

// They take minutes here, so that others hardly notice: were the first ones renewed when they are due, in 20 minutes, the
// last ones would be late.
TEST(core, begins_so_early_with_very_many_holds_that_the_last_are_not_late) {
  scripted s(1h);
  const auto start = boot_clock::now();
  auto holds = hold_many(s, 20'000);
  const auto granted = boot_clock::now();
  const auto asked_at = [&](boot_clock::time_point now) {
    s.core->renewals().tick(now);
    std::size_t asked = 0;
    while (s.engine->count(s.engine->renewals) > 0)
      asked += s.engine->next(s.engine->renewals).claims;
    return asked;
  };
  EXPECT_EQ(asked_at(start + 16min), 0U);
  std::size_t asked = 0;
  for (auto now = granted + 16min; now < start + 20min + 2s; now += 100ms) {
    const auto more = asked_at(now);
    EXPECT_LE(more, 104U);
    asked += more;
  }
  EXPECT_EQ(asked, holds.size());
  end_all(s, holds);
}

// Each tick sets a timer for the next one; one that came while another was set used to leave two, and so on for ever.
TEST(core, has_one_timer_for_all_renewals_however_often_it_looks) {
  scripted s(1h);
  auto holds = hold_many(s, 10);
  const auto before = detail::timers::shared().waiting();
  for (int i = 0; i < 100; ++i) s.core->renewals().tick(boot_clock::now());
  EXPECT_LE(detail::timers::shared().waiting(), before);
  end_all(s, holds);
}

// They were sorted by a time that an answer to an earlier request changed meanwhile: the sort then left its range.
TEST(core, renews_very_many_holds_while_answers_to_earlier_requests_come_in) {
  scripted s(1h);
  auto holds = hold_many(s, 2'000);
  std::jthread answers{[&](const std::stop_token& enough) {
    while (!enough.stop_requested())
      for (const auto& h : holds) h->renewed({}, {.lease = 1h}, boot_clock::now());
  }};
  for (std::size_t asked = 0; asked < 200'000;) {
    s.core->renewals().tick(boot_clock::now() + 40min);  // what was confirmed is due again
    while (s.engine->count(s.engine->renewals) > 0)
      asked += s.engine->next(s.engine->renewals).claims;
  }
  answers = {};
  for (const auto& h : holds) EXPECT_TRUE(h->valid());
  end_all(s, holds);
}

}  // namespace
