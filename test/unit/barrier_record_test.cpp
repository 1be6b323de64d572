// The barrier part of records/claims.
#include "engines/records/barrier.hpp"

#include "unit/claims_fixture.hpp"

namespace afar::test {
namespace {

using engines::records::note_wait;

class barrier_record : public claims_fixture {
 protected:
  barrier_record() : claims_fixture(kind::barrier, 3) {}

  bool broken(std::uint64_t n) {
    acquire(n);
    return failed.code == errc::broken;
  }
};

TEST_F(barrier_record, opens_when_all_have_arrived) {
  EXPECT_FALSE(granted(1));
  EXPECT_FALSE(granted(2));
  const auto last = acquire(3);
  EXPECT_TRUE(last.granted);
  EXPECT_EQ(called(), (numbers{1, 2}));
  const auto first = acquire(1);
  EXPECT_TRUE(first.granted);
  EXPECT_EQ(first.token, last.token);
  EXPECT_TRUE(granted(2));
}

TEST_F(barrier_record, counts_one_that_looks_again_once) {
  granted(1);
  granted(1);
  granted(2);
  EXPECT_FALSE(granted(2));
  EXPECT_TRUE(granted(3));
}

TEST_F(barrier_record, answers_the_same_to_one_that_lost_the_answer) {
  granted(1);
  granted(2);
  const auto first = acquire(3).token;
  EXPECT_EQ(acquire(3).token, first);
  EXPECT_TRUE(record.line.empty()) << "it did not arrive a second time";
}

TEST_F(barrier_record, starts_anew_with_the_next_arrival) {
  granted(1);
  granted(2);
  const auto first = acquire(3).token;
  EXPECT_FALSE(granted(4));
  EXPECT_FALSE(granted(5));
  EXPECT_TRUE(granted(1)) << "of the first generation, late";
  EXPECT_GT(acquire(6).token, first);
}

TEST_F(barrier_record, breaks_for_the_others_when_one_leaves) {
  granted(1);
  granted(2);
  EXPECT_EQ(release(1), release_reply::released);
  EXPECT_EQ(called(), numbers{2});
  EXPECT_TRUE(broken(2));
  EXPECT_FALSE(granted(3));
  EXPECT_FALSE(failed) << "a new generation";
}

TEST_F(barrier_record, breaks_when_one_falls_silent_for_too_long) {
  granted(1);
  pass(3s);
  granted(2);
  pass(2s);
  sweep();
  EXPECT_EQ(called(), (numbers{1, 2}));
  EXPECT_TRUE(broken(2));
  EXPECT_TRUE(broken(1)) << "it must not open the next generation when it comes back";
}

TEST_F(barrier_record, breaks_when_one_dies) {
  const engines::records::alive_test alive = [](auto session) { return session != 66; };
  m.alive = &alive;
  m.session = 66;
  granted(1);
  m.session = 5;
  EXPECT_FALSE(granted(2)) << "1 died alone, 2 begins";
  m.session = 66;
  granted(3);
  m.session = 5;
  EXPECT_TRUE(broken(2));
}

TEST_F(barrier_record, looks_again_soon_if_anybody_else_could_die) {
  const engines::records::alive_test alive = [](auto) { return true; };
  m.alive = &alive;
  m.session = 5;
  EXPECT_EQ(acquire(1).retry_after, 5000ms / 3);
  m.session = 6;
  EXPECT_EQ(acquire(2).retry_after, 20ms);
  m.session = 5;
  EXPECT_EQ(acquire(1).retry_after, 20ms) << "2 came after it, and may die as well";
}

TEST_F(barrier_record, holds_nothing_afterwards) {
  granted(1);
  granted(2);
  granted(3);
  EXPECT_TRUE(record.holders.empty());
  release(1);
  release(2);
  release(3);
  EXPECT_TRUE(record.idle());
}

TEST_F(barrier_record, remembers_its_answers_as_long_as_anybody_may_ask_again) {
  granted(1);
  granted(2);
  granted(3);
  pass(119s);
  EXPECT_TRUE(granted(1)) << "it was stopped for longer than its lease, and arrived anew";
  pass(1s);
  sweep();
  EXPECT_TRUE(record.idle()) << "what nobody fetched is forgotten";
}

TEST_F(barrier_record, counts_nobody_in_two_rounds_who_was_stopped_for_very_long) {
  spi::claim stopped = claim(1);
  note_wait(stopped, acquire(stopped));
  granted(2);
  EXPECT_TRUE(granted(3));
  pass(10min);
  granted(4);
  granted(5);
  acquire(stopped);
  EXPECT_EQ(failed.code, errc::broken) << "its round was forgotten, and it arrived anew";
  EXPECT_TRUE(granted(6)) << "the next round has three of its own";
}

TEST_F(barrier_record, keeps_the_place_of_one_that_renews) {
  granted(1);
  for (int i = 0; i < 4; ++i) {
    pass(4s);
    EXPECT_EQ(renew(1), loss::none);
  }
  granted(2);
  EXPECT_TRUE(granted(3));
}

TEST_F(barrier_record, is_not_entered_by_a_try_that_would_have_to_wait) {
  EXPECT_FALSE(tried(1));
  EXPECT_TRUE(record.idle());
  granted(2);
  granted(3);
  EXPECT_TRUE(tried(1)) << "the last one does not wait";
}

TEST_F(barrier_record, refuses_another_limit_while_somebody_waits) {
  granted(1);
  spi::claim other = claim(2);
  other.limit = 2;
  acquire(other);
  EXPECT_EQ(failed.code, errc::wrong_use);
  EXPECT_EQ(failed.detail.str(), "is a barrier with limit 3, not one with limit 2");
}

}  // namespace
}  // namespace afar::test
