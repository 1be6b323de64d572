#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/latch.hpp>

#include <atomic>

namespace afar::test {
namespace {

class latches : public engine_test {
 protected:
  void SetUp() override { need<latch>("latch", 1); }
};

TEST_P(latches, open_when_counted_to_zero_by_several_clients) {
  latch mine{one, name, 2};
  latch theirs{two, name, 2};
  EXPECT_FALSE(mine.try_wait());
  mine.count_down();
  EXPECT_FALSE(theirs.try_wait());
  theirs.count_down();
  EXPECT_TRUE(mine.try_wait());
  EXPECT_TRUE(theirs.try_wait());
}

TEST_P(latches, count_down_by_more_than_one) {
  latch mine{one, name, 5};
  mine.count_down(3);
  EXPECT_EQ(mine.remaining(), 2);
  mine.count_down(2);
  EXPECT_TRUE(mine.try_wait());
}

TEST_P(latches, wake_waiters_of_several_clients) {
  latch mine{one, name, 1};
  std::atomic<int> through{0};
  auto crowd = start([&] {
    in_parallel(4, [&](int i) {
      const latch l{i % 2 ? one : two, name, 1};
      if (l.wait_for(long_time)) ++through;
    });
  });
  hold_still(20ms);
  EXPECT_EQ(through, 0);
  mine.count_down();
  crowd.get();
  EXPECT_EQ(through, 4);
}

TEST_P(latches, let_a_late_waiter_pass) {
  latch{one, name, 1}.count_down();
  EXPECT_TRUE(latch(two, name, 1).try_wait());
  latch(two, name, 1).wait();
}

TEST_P(latches, stay_open) {
  latch mine{one, name, 1};
  mine.count_down();
  EXPECT_TRUE(mine.try_wait());
  EXPECT_TRUE(latch(two, name, 3).try_wait()) << "a late comer closed it again";
  EXPECT_TRUE(mine.try_wait());
}

TEST_P(latches, are_joined_without_a_count) {
  const latch joined{two, name};
  EXPECT_EQ(joined.remaining(), std::nullopt);
  EXPECT_FALSE(joined.try_wait());
  latch mine{one, name, 2};
  mine.count_down();
  EXPECT_EQ(joined.remaining(), 1);
  mine.count_down();
  EXPECT_TRUE(joined.wait_for(long_time));
}

TEST_P(latches, wait_for_the_count_to_be_set_when_joined) {
  auto waiter = start([&] { return latch(two, name).wait_for(long_time); });
  hold_still(10ms);
  latch mine{one, name, 1};
  mine.count_down();
  EXPECT_TRUE(waiter.get());
}

TEST_P(latches, can_be_counted_down_by_one_that_joined) {
  latch mine{one, name, 2};
  mine.count_down();
  latch joined{two, name};
  joined.count_down();
  EXPECT_TRUE(mine.try_wait());
}

TEST_P(latches, refuse_a_count_down_before_the_count_is_set) {
  latch joined{one, name};
  EXPECT_EQ(thrown_by([&] { joined.count_down(); }), errc::wrong_use);
}

TEST_P(latches, are_open_from_the_start_with_a_count_of_zero) {
  EXPECT_TRUE(latch(one, name, 0).wait_for(long_time));
}

TEST_P(latches, refuse_a_negative_count) {
  EXPECT_EQ(thrown_by([&] { latch(one, name, -1); }), errc::bad_argument);
  latch mine{one, name, 1};
  EXPECT_EQ(thrown_by([&] { mine.count_down(-1); }), errc::bad_argument);
  EXPECT_EQ(mine.remaining(), 1);
}

TEST_P(latches, give_up_when_the_time_is_over) {
  const latch mine{one, name, 1};
  EXPECT_GE(time_of([&] { EXPECT_FALSE(mine.wait_for(30ms)); }), 30ms);
  std::error_code ec;
  EXPECT_FALSE(mine.wait_for(5ms, ec));
  EXPECT_EQ(ec, errc::timed_out);
}

TEST_P(latches, give_up_by_a_stop) {
  std::stop_source stop;
  auto waiter = start([&] {
    std::error_code ec;
    latch(one, name, 1).wait(stop.get_token(), ec);
    return ec;
  });
  hold_still(10ms);
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled);
}

TEST_P(latches, end_their_waits_when_the_client_closes) {
  auto waiter = start([&] { return thrown_by([&] { latch(two, name, 1).wait(); }); });
  hold_still(10ms);
  two.close();
  EXPECT_EQ(waiter.get(), errc::closed);
}

TEST_P(latches, bring_all_together_by_arrive_and_wait) {
  std::atomic<int> arrived{0};
  in_parallel(4, [&](int i) {
    latch l{i % 2 ? one : two, name, 4};
    ++arrived;
    l.arrive_and_wait();
    EXPECT_EQ(arrived, 4);
  });
}

AFAR_FOR_EVERY_ENGINE(latches);

}  // namespace
}  // namespace afar::test
