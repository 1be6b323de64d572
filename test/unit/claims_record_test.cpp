// The rules by which memory and embedded engine grant: mutex, fair_mutex and what all kinds
// share. Permits: permit_claims_test; readers and writers: shared_claims_test; what is remembered:
// claims_history_test; barrier: barrier_record_test.
#include "engines/records/claims.hpp"

#include "unit/claims_fixture.hpp"

namespace afar::test {
namespace {

class claims_record : public claims_fixture {};

class fair_claims : public claims_fixture {
 protected:
  fair_claims() : claims_fixture(kind::fair_mutex) {}
};

// ---- granting -----------------------------------------------------------------------------------

TEST_F(claims_record, grants_a_free_name_and_refuses_the_next) {
  EXPECT_TRUE(granted(1));
  EXPECT_TRUE(e.changed);
  EXPECT_TRUE(e.holders_changed);
  const auto refused = acquire(2);
  EXPECT_FALSE(refused.granted);
  EXPECT_FALSE(failed);
  EXPECT_EQ(refused.why, loss::none);
  EXPECT_TRUE(called_nobody());
}

TEST_F(claims_record, grants_a_holder_again_with_its_token_and_a_new_lease) {
  spi::claim a = claim(1);
  a.handoffs = 4;
  const auto first = acquire(a);
  pass(9s);
  const auto again = acquire(a);
  EXPECT_TRUE(again.granted);
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.last_token, first.last_token);
  pass(9s);
  EXPECT_FALSE(granted(2)) << "the lease was renewed";
}

TEST_F(claims_record, calls_the_next_in_line_when_the_holder_releases) {
  granted(1);
  granted(2);
  granted(3);
  EXPECT_EQ(release(1), release_reply::released);
  EXPECT_EQ(called(), numbers{2});
  EXPECT_FALSE(tried(4)) << "nobody overtakes the one that was called";
  EXPECT_TRUE(granted(2));
  EXPECT_TRUE(called_nobody());
}

TEST_F(claims_record, calls_once_for_one_chance) {
  granted(1);
  granted(2);
  release(1);
  EXPECT_EQ(called(), numbers{2});
  renew(2);
  EXPECT_TRUE(called_nobody());
  sweep();
  EXPECT_TRUE(called_nobody());
}

TEST_F(claims_record, keeps_the_place_of_a_claim_that_asks_again) {
  granted(1);
  granted(2);
  granted(3);
  granted(2);
  release(1);
  EXPECT_EQ(called(), numbers{2});
}

TEST_F(claims_record, leaves_nothing_behind_when_a_try_is_refused) {
  granted(1);
  EXPECT_FALSE(tried(2));
  EXPECT_TRUE(record.line.empty());
  EXPECT_FALSE(e.changed);
}

TEST_F(claims_record, gives_up_its_place_with_a_try_that_is_refused) {
  granted(1);
  granted(2);
  granted(3);
  EXPECT_FALSE(tried(2));
  release(1);
  EXPECT_EQ(called(), numbers{3});
}

TEST_F(claims_record, moves_on_when_the_one_that_was_called_leaves) {
  granted(1);
  granted(2);
  granted(3);
  release(1);
  EXPECT_EQ(release(2), release_reply::released);
  EXPECT_EQ(called(), numbers{3});
}

TEST_F(claims_record, releases_once) {
  granted(1);
  EXPECT_EQ(release(1), release_reply::released);
  EXPECT_EQ(release(1), release_reply::gone);
  EXPECT_EQ(release(99), release_reply::gone);
}

// ---- patience -----------------------------------------------------------------------------------

TEST_F(claims_record, lets_others_pass_one_that_was_called_and_did_not_come) {
  granted(1);
  granted(2);
  release(1);
  pass(50ms);
  EXPECT_FALSE(tried(3));
  pass(1ms);
  EXPECT_TRUE(tried(3));
}

TEST_F(claims_record, calls_the_second_when_the_first_does_not_come) {
  granted(1);
  granted(2);
  granted(3);
  release(1);
  pass(51ms);
  sweep();
  EXPECT_EQ(called(), numbers{3});
}

TEST_F(claims_record, calls_one_that_was_passed_again_but_waits_for_it_no_more) {
  granted(1);
  granted(2);
  granted(3);
  release(1);
  pass(51ms);
  EXPECT_TRUE(granted(3));
  release(3);
  EXPECT_EQ(called(), numbers{2});
  EXPECT_TRUE(tried(4)) << "2 had its chance";
  release(4);
  EXPECT_EQ(called(), numbers{2});
}

TEST_F(claims_record, waits_again_for_one_that_came_late) {
  granted(1);
  granted(2);
  release(1);
  pass(51ms);
  EXPECT_TRUE(granted(3));
  EXPECT_FALSE(granted(2));
  release(3);
  EXPECT_EQ(called(), numbers{2});
  EXPECT_FALSE(tried(4));
  EXPECT_TRUE(granted(2));
}

TEST_F(claims_record, tells_the_second_to_look_when_the_patience_with_the_first_ends) {
  granted(1);
  granted(2);
  release(1);
  pass(10ms);
  EXPECT_EQ(acquire(3).retry_after, 41ms);
  EXPECT_EQ(acquire(4).retry_after, 5000ms / 3) << "that is not the fourth's business";
}

TEST_F(fair_claims, nobody_passes_one_that_was_called) {
  granted(1);
  granted(2);
  release(1);
  pass(4s);
  EXPECT_FALSE(tried(3));
  EXPECT_EQ(acquire(3).retry_after, 5000ms / 3);
  pass(1s);
  sweep();
  EXPECT_EQ(called(), numbers{3}) << "2 has lost its place";
}

// ---- leases and death ---------------------------------------------------------------------------

TEST_F(claims_record, frees_the_name_when_the_lease_is_over) {
  granted(1);
  granted(2);
  pass(4s);
  renew(2);
  pass(4s);
  renew(2);
  pass(2s);
  EXPECT_TRUE(granted(2));
  EXPECT_EQ(renew(1), loss::expired);
  EXPECT_EQ(release(1), release_reply::gone);
  EXPECT_FALSE(granted(1)) << "2 holds";
}

TEST_F(claims_record, forgets_a_silent_waiter) {
  granted(1);
  granted(2);
  pass(5s);
  sweep();
  EXPECT_TRUE(record.line.empty());
  EXPECT_EQ(renew(2), loss::expired);
}

TEST_F(claims_record, frees_at_once_what_a_dead_session_held) {
  const engines::records::alive_test alive = [](auto session) { return session != 66; };
  m.alive = &alive;
  m.session = 66;
  granted(1);
  granted(2);
  m.session = 5;
  EXPECT_TRUE(granted(3));
}

// Those of one process stand together or apart; nobody is taken for his neighbour.
TEST_F(claims_record, remove_the_dead_from_a_mixed_line_and_nobody_else) {
  const engines::records::alive_test alive = [](auto session) { return session != 66; };
  m.alive = &alive;
  m.session = 7;
  acquire(1);
  std::uint64_t n = 2;
  for (const auto session : numbers{66, 7, 66, 66, 8, 66, 8, 8, 7, 66}) {
    engines::records::place p;
    p.owner = owner(n++);
    p.session = session;
    p.until = m.now + 1s;
    record.line.push_back(p);
  }
  m.session = 7;
  sweep();
  numbers left;
  for (const auto& p : record.line) left.push_back(p.owner.number);
  EXPECT_EQ(left, (numbers{3, 6, 8, 9, 10}));
}

TEST_F(claims_record, does_not_ask_whether_its_own_session_lives) {
  const engines::records::alive_test alive = [](auto) -> bool { throw std::logic_error{"asked"}; };
  m.alive = &alive;
  m.session = 5;
  EXPECT_TRUE(granted(1));
  EXPECT_FALSE(granted(2));
}

TEST_F(claims_record, looks_again_soon_only_if_another_session_is_in_the_way) {
  const engines::records::alive_test alive = [](auto) { return true; };
  m.alive = &alive;
  m.session = 5;
  granted(1);
  EXPECT_EQ(acquire(2).retry_after, 5000ms / 3);
  m.session = 6;
  EXPECT_EQ(acquire(3).retry_after, 20ms);
  release(1);
  granted(2);
}

TEST_F(claims_record, looks_again_when_the_holders_lease_ends) {
  spi::claim a = claim(1);
  a.lease = 800ms;
  acquire(a);
  pass(1ns);
  EXPECT_EQ(acquire(2).retry_after, 800ms) << "rounded up: not a moment too early";
}

TEST_F(claims_record, holds_for_ever_with_an_endless_lease) {
  spi::claim a = claim(1);
  a.lease = spi::milliseconds::max();
  EXPECT_TRUE(acquire(a).granted);
  pass(24h * 365);
  EXPECT_FALSE(granted(2));
}

// ---- tokens -------------------------------------------------------------------------------------

TEST_F(claims_record, takes_tokens_from_the_calendar_and_never_goes_back) {
  EXPECT_EQ(acquire(1).token, 1'000'000U);
  release(1);
  EXPECT_EQ(acquire(2).token, 1'000'001U);
  release(2);
  m.calendar_us = 500;
  EXPECT_EQ(acquire(3).token, 1'000'002U);
  release(3);
  m.calendar_us = 2'000'000;
  EXPECT_EQ(acquire(4).token, 2'000'000U);
}

TEST_F(claims_record, reserves_tokens_for_hand_offs) {
  spi::claim a = claim(1);
  a.handoffs = 16;
  const auto reply = acquire(a);
  EXPECT_EQ(reply.last_token, reply.token + 16);
  release(1);
  EXPECT_EQ(acquire(2).token, reply.last_token + 1);
}

TEST_F(claims_record, stores_the_token_of_a_hand_off_with_the_renewal) {
  spi::claim a = claim(1);
  a.handoffs = 4;
  a.token = 0;
  const auto first = acquire(a);
  a.token = first.token + 2;
  EXPECT_EQ(renew(a).why, loss::none);
  EXPECT_EQ(record.holders[0].token, first.token + 2);
  a.token = first.token;
  renew(a);
  EXPECT_EQ(record.holders[0].token, first.token + 2) << "it never goes back";
}

TEST_F(claims_record, raises_the_floor_when_a_renewal_brings_a_larger_token) {
  granted(1);
  spi::claim a = claim(1);
  a.token = 9'000'000;
  renew(a);
  release(1);
  EXPECT_GT(acquire(2).token, 9'000'000U);
}

TEST_F(claims_record, stays_as_a_floor_until_the_calendar_has_caught_up) {
  spi::claim a = claim(1);
  a.handoffs = 60'000'000;  // a minute of tokens
  acquire(a);
  release(1);
  EXPECT_TRUE(record.idle());
  pass(30s);
  EXPECT_FALSE(collectable(record, m.now));
  pass(41s);
  EXPECT_TRUE(collectable(record, m.now));
  EXPECT_GT(m.calendar_us, record.last_token);
}

TEST_F(claims_record, is_collected_when_idle_for_a_while) {
  granted(1);
  EXPECT_FALSE(collectable(record, m.now + 1h));
  release(1);
  EXPECT_FALSE(collectable(record, m.now + 10s));
  EXPECT_TRUE(collectable(record, m.now + 10'001ms));
}

// ---- notes, eviction, conversion of what is gone ------------------------------------------------

TEST_F(claims_record, stores_the_note_and_says_when_it_changes) {
  spi::claim a = claim(1);
  a.note = "first";
  acquire(a);
  renew(a);
  EXPECT_FALSE(e.holders_changed);
  a.note = "second";
  renew(a);
  EXPECT_TRUE(e.holders_changed);
  EXPECT_EQ(record.holders[0].note, "second");
}

TEST_F(claims_record, tells_an_evicted_holder_why) {
  const auto token = acquire(1).token;
  granted(2);
  e = {};
  EXPECT_EQ(evict(record, owner(1), token + 1, m, e), release_reply::gone) << "another token";
  EXPECT_EQ(evict(record, owner(2), token, m, e), release_reply::gone) << "another owner";
  EXPECT_EQ(evict(record, owner(1), token, m, e), release_reply::released);
  EXPECT_EQ(evict(record, owner(1), token, m, e), release_reply::released) << "a repeated request";
  EXPECT_EQ(called(), numbers{2});
  EXPECT_TRUE(e.holders_changed);
  EXPECT_EQ(renew(1), loss::evicted);
  EXPECT_GT(acquire(2).token, token + 1);
  pass(10s);
  EXPECT_EQ(renew(1), loss::expired) << "nobody remembers longer than the lease";
}

TEST_F(claims_record, frees_the_name_for_another_use_after_an_eviction) {
  const auto token = acquire(1).token;
  e = {};
  evict(record, owner(1), token, m, e);
  spi::claim other = claim(2);
  other.what.kind = kind::election;
  EXPECT_TRUE(acquire(other).granted);
  EXPECT_EQ(renew(1), loss::evicted);
}

TEST_F(claims_record, does_not_grant_to_one_whose_hold_is_gone) {
  spi::claim a = claim(1);
  a.token = acquire(1).token;
  pass(10s);
  const auto reply = acquire(a);
  EXPECT_FALSE(reply.granted);
  EXPECT_EQ(reply.why, loss::expired);
  EXPECT_TRUE(record.idle());
}

// ---- wrong use ----------------------------------------------------------------------------------

TEST_F(claims_record, refuses_another_kind_while_it_is_in_use) {
  granted(1);
  spi::claim other = claim(2);
  other.what.kind = kind::election;
  acquire(other);
  EXPECT_EQ(failed.code, errc::wrong_use);
  EXPECT_EQ(failed.detail.str(), "is a mutex, not an election");
  release(1);
  EXPECT_TRUE(acquire(other).granted);
  EXPECT_FALSE(failed);
  EXPECT_EQ(record.kind, kind::election);
}

TEST_F(claims_record, is_the_writer_of_a_shared_mutex_of_the_same_name) {
  granted(1);
  spi::claim reader = claim(2, access::shared);
  reader.what.kind = kind::shared_mutex;
  EXPECT_FALSE(acquire(reader).granted);
  EXPECT_FALSE(failed) << "it waits";
  EXPECT_EQ(record.kind, kind::shared_mutex);
  release(1);
  EXPECT_TRUE(acquire(reader).granted);
  EXPECT_FALSE(granted(3));
  EXPECT_FALSE(failed);
  spi::claim second = claim(4, access::shared);
  second.what.kind = kind::shared_mutex;
  EXPECT_FALSE(acquire(second).granted) << "not past a writer that waits";
  release(2);
  EXPECT_TRUE(granted(3));
  release(3);
  EXPECT_TRUE(acquire(second).granted);
  release(4);
  EXPECT_TRUE(granted(5));
  EXPECT_EQ(record.kind, kind::mutex) << "a name that nobody uses is what its next user says";
}

TEST_F(fair_claims, are_no_writers_of_a_shared_mutex) {
  granted(1);
  spi::claim reader = claim(2, access::shared);
  reader.what.kind = kind::shared_mutex;
  acquire(reader);
  EXPECT_EQ(failed.detail.str(), "is a fair_mutex, not a shared_mutex");
}

// ---- description --------------------------------------------------------------------------------

TEST_F(claims_record, describes_who_holds_and_who_waits) {
  spi::claim a = claim(1);
  a.note = "writer";
  const auto token = acquire(a).token;
  pass(1s);
  granted(2);
  granted(3);
  pass(2s);
  const spi::entry x = describe(record, "orders", m);
  EXPECT_EQ(x.kind, kind::mutex);
  EXPECT_EQ(x.name, "orders");
  ASSERT_EQ(x.holders.size(), 1U);
  EXPECT_EQ(x.holders[0].token, token);
  EXPECT_EQ(x.holders[0].note, "writer");
  EXPECT_EQ(x.holders[0].since, 3s);
  EXPECT_EQ(x.holders[0].lease_left, 7s);
  ASSERT_EQ(x.waiters.size(), 2U);
  EXPECT_EQ(x.waiters[0].owner, owner(2));
  EXPECT_EQ(x.waiters[0].since, 2s);
  EXPECT_EQ(x.waiters[1].owner, owner(3));
  pass(8s);
  EXPECT_TRUE(describe(record, "orders", m).holders.empty()) << "their leases are over";
}

}  // namespace
}  // namespace afar::test
