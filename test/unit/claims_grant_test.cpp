// Rule 5 of claims.hpp: whoever frees a name makes the next in line a holder, without being asked.
#include "claims_fixture.hpp"

#include <string>

namespace afar::test {
namespace {

class direct_grants : public claims_fixture {
 protected:
  explicit direct_grants(kind k = kind::mutex, std::uint32_t limit = 1) : claims_fixture(k, limit) {
    m.grants = true;
    m.waiter_lease = 3s;
  }

  numbers holders() const {
    numbers out;
    for (const auto& h : record.holders) out.push_back(h.owner.number);
    return out;
  }
  numbers granted_now() const {
    numbers out;
    for (const auto& g : e.grants) out.push_back(g.owner.number);
    return out;
  }
};

class direct_permits : public direct_grants {
 protected:
  direct_permits() : direct_grants(kind::permits, 3) {}
};

TEST_F(direct_grants, make_the_first_in_line_the_holder_of_what_is_released) {
  const auto first = acquire(1);
  EXPECT_FALSE(granted(2));
  EXPECT_FALSE(granted(3));
  pass(1s);
  ASSERT_EQ(release(1), release_reply::released);
  EXPECT_EQ(holders(), numbers{2});
  EXPECT_EQ(called(), numbers{2});
  EXPECT_TRUE(e.holders_changed);
  ASSERT_EQ(e.grants.size(), 1U);
  EXPECT_EQ(e.grants[0].owner, owner(2));
  EXPECT_GT(e.grants[0].token, first.token);
  EXPECT_EQ(e.grants[0].token, record.holders[0].token);
  EXPECT_EQ(record.line.size(), 1U);
  EXPECT_FALSE(granted(3)) << "two holders";
}

TEST_F(direct_grants, are_for_a_short_time_until_the_holder_asks) {
  acquire(1);
  acquire(2);
  release(1);
  const auto told = e.grants.at(0);
  EXPECT_EQ(told.lease, 3s);
  EXPECT_EQ(record.holders[0].until, m.now + 3s);
  pass(1s);
  const auto reply = acquire(2);
  EXPECT_TRUE(reply.granted);
  EXPECT_EQ(reply.token, told.token);
  EXPECT_EQ(reply.lease, 10s);
  EXPECT_EQ(record.holders.at(0).until, m.now + 10s);
}

TEST_F(direct_grants, last_no_longer_than_was_asked_for) {
  spi::claim brief = claim(2);
  brief.lease = 500ms;
  acquire(1);
  acquire(brief);
  release(1);
  EXPECT_EQ(e.grants.at(0).lease, 500ms);
  EXPECT_EQ(record.holders.at(0).until, m.now + 500ms);
}

TEST_F(direct_grants, are_prolonged_by_a_renewal) {
  acquire(1);
  acquire(2);
  release(1);
  pass(2s);
  EXPECT_EQ(renew(2), loss::none);
  EXPECT_EQ(record.holders.at(0).until, m.now + 10s);
}

// The waiter counts from when it has asked; the clock of who releases may have been read before.
TEST_F(direct_grants, are_not_over_before_the_waiter_thinks_so) {
  acquire(1);
  pass(2s);
  acquire(2);
  const auto asked = m.now;
  pass(-1s);
  release(1);
  EXPECT_EQ(record.holders.at(0).owner, owner(2));
  EXPECT_GE(record.holders.at(0).until, asked + e.grants.at(0).lease);
}

TEST_F(direct_grants, of_one_that_died_are_over_with_its_short_lease) {
  acquire(1);
  acquire(2);
  acquire(3);
  release(1);
  pass(2s);
  EXPECT_FALSE(granted(3));
  pass(1s + 1ms);
  sweep();
  EXPECT_EQ(granted_now(), numbers{3});
  EXPECT_EQ(holders(), numbers{3});
}

TEST_F(direct_grants, go_on_to_the_next_when_the_waiter_has_given_up) {
  acquire(1);
  acquire(2);
  acquire(3);
  release(1);
  const auto second = e.grants.at(0).token;
  EXPECT_EQ(release(2), release_reply::released);
  EXPECT_EQ(granted_now(), numbers{3});
  EXPECT_GT(e.grants.at(0).token, second);
  EXPECT_EQ(release(2), release_reply::gone) << "a repeated release takes it from the next";
  EXPECT_EQ(holders(), numbers{3});
}

TEST_F(direct_grants, are_made_by_whoever_finds_the_lease_of_the_holder_over) {
  acquire(1);
  for (int i = 0; i < 4; ++i) {
    pass(2s);
    EXPECT_FALSE(granted(2)) << i;
  }
  pass(2s);
  sweep();
  EXPECT_EQ(granted_now(), numbers{2});
}

TEST_F(direct_grants, reserve_tokens_for_hand_offs) {
  spi::claim many = claim(2);
  many.handoffs = 16;
  acquire(1);
  acquire(many);
  release(1);
  EXPECT_EQ(e.grants.at(0).last_token, e.grants.at(0).token + 16);
  EXPECT_EQ(record.last_token, e.grants.at(0).last_token);
}

TEST_F(direct_grants, keep_the_note_of_the_waiter) {
  spi::claim noted = claim(2);
  noted.note = "who I am";
  acquire(1);
  acquire(noted);
  release(1);
  EXPECT_EQ(record.holders.at(0).note, "who I am");
}

// A client of an older version has not said what it wants.
TEST_F(direct_grants, are_not_for_those_who_do_not_know_of_them) {
  acquire(1);
  m.grants = false;
  acquire(2);
  m.grants = true;
  acquire(3);
  release(1);
  EXPECT_EQ(called(), numbers{2});
  EXPECT_TRUE(e.grants.empty());
  EXPECT_TRUE(record.holders.empty());
  EXPECT_TRUE(granted(2));
}

TEST_F(direct_permits, are_for_as_many_as_fit) {
  spi::claim all = claim(1);
  all.permits = 3;
  acquire(all);
  spi::claim two = claim(2);
  two.permits = 2;
  acquire(two);
  acquire(3);
  acquire(4);
  release(1);
  EXPECT_EQ(granted_now(), (numbers{2, 3}));
  EXPECT_EQ(record.line.size(), 1U);
  EXPECT_LT(e.grants[0].token, e.grants[1].token);
}

}  // namespace
}  // namespace afar::test
