// How the core renews what is held where that is much: in few requests, in portions, while answers come in.
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
