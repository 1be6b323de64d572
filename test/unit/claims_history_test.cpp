// What a record remembers of its holds: renewals, and how the last ones ended.
#include "engines/records/claims.hpp"

#include "unit/claims_fixture.hpp"

namespace afar::test {
namespace {

class claims_history : public claims_fixture {};

TEST_F(claims_history, counts_renewals_and_knows_the_last) {
  granted(1);
  auto seen = describe(record, "x", m).holders.at(0);
  EXPECT_EQ(seen.lease, 10s);
  EXPECT_EQ(seen.renewals, 0U);
  EXPECT_FALSE(seen.renewed);
  pass(3s);
  renew(1);
  pass(2s);
  seen = describe(record, "x", m).holders.at(0);
  EXPECT_EQ(seen.renewals, 1U);
  EXPECT_EQ(seen.renewed, 2s);
  EXPECT_EQ(seen.lease, 10s);
  EXPECT_EQ(seen.lease_left, 8s);
  EXPECT_EQ(seen.since, 5s);
}

TEST_F(claims_history, remembers_how_the_last_holds_ended) {
  const auto history = [&] { return describe(record, "x", m).history; };
  const auto first = acquire(1).token;
  EXPECT_TRUE(history().empty());
  pass(2s);
  release(1);
  const auto second = acquire(2).token;
  pass(15s);  // longer than its lease
  sweep();
  const auto third = acquire(3).token;
  pass(1s);
  evict(record, owner(3), third, m, e);
  pass(1s);

  const auto past = history();
  ASSERT_EQ(past.size(), 3U);
  EXPECT_EQ(past[0].token, third);
  EXPECT_EQ(past[0].why, loss::evicted);
  EXPECT_EQ(past[0].held, 1s);
  EXPECT_EQ(past[0].ago, 1s);
  EXPECT_EQ(past[1].token, second);
  EXPECT_EQ(past[1].why, loss::expired);
  EXPECT_EQ(past[1].held, 10s);
  EXPECT_EQ(past[1].ago, 7s);
  EXPECT_EQ(past[2].token, first);
  EXPECT_EQ(past[2].why, loss::none);
  EXPECT_EQ(past[2].held, 2s);

  granted(4);
  release(4);
  EXPECT_EQ(history().size(), 3U) << "no more than that";
  EXPECT_EQ(history().back().token, second);
}

TEST_F(claims_history, remembers_that_a_holder_died) {
  m.session = 5;
  granted(1);
  m.session = 6;
  const engines::records::alive_test alive = [](std::uint64_t s) { return s != 5; };
  m.alive = &alive;
  pass(1s);
  granted(2);
  const auto past = describe(record, "x", m).history;
  ASSERT_EQ(past.size(), 1U);
  EXPECT_EQ(past[0].why, loss::session);
  EXPECT_EQ(past[0].held, 1s);
  EXPECT_EQ(record.history[0].session, 5U);
}

}  // namespace
}  // namespace afar::test
