#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/barrier.hpp>

#include <array>
#include <atomic>

namespace afar::test {
namespace {

class barriers : public engine_test {
 protected:
  void SetUp() override { need<barrier>("barrier", 1U); }
};

TEST_P(barriers, let_nobody_through_before_all_have_arrived) {
  std::atomic<int> arrived{0};
  in_parallel(4, [&](int i) {
    barrier b{i % 2 ? one : two, name, 4};
    ++arrived;
    b.arrive_and_wait();
    EXPECT_EQ(arrived, 4);
  });
}

TEST_P(barriers, let_threads_of_one_object_through_together) {
  barrier b{one, name, 3};
  std::atomic<int> arrived{0};
  in_parallel(3, [&](int) {
    ++arrived;
    b.arrive_and_wait();
    EXPECT_EQ(arrived, 3);
  });
}

TEST_P(barriers, start_anew_round_after_round) {
  constexpr int participants = 4;
  constexpr int rounds = 8;
  std::array<std::atomic<int>, rounds> arrived{};
  in_parallel(participants, [&](int i) {
    barrier b{i % 2 ? one : two, name, participants};
    for (auto& round : arrived) {
      ++round;
      b.arrive_and_wait();
      EXPECT_EQ(round, participants);
    }
  });
}

TEST_P(barriers, are_not_broken_when_more_arrive_than_take_part_in_a_round) {
  constexpr int participants = 2;
  constexpr int callers = 7;
  constexpr int arrivals = 120;  // whole rounds
  std::atomic<int> come{0};
  in_parallel(callers, [&](int i) {
    barrier b{i % 2 ? one : two, name, participants};
    while (come++ < arrivals) {
      std::error_code ec;
      EXPECT_TRUE(b.arrive_and_wait_for(long_time, ec)) << ec.message();
    }
  });
}

TEST_P(barriers, of_one_never_wait) {
  barrier b{one, name, 1};
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(b.arrive_and_wait_for(long_time));
}

TEST_P(barriers, give_up_when_the_time_is_over) {
  barrier b{one, name, 2};
  EXPECT_GE(time_of([&] { EXPECT_FALSE(b.arrive_and_wait_for(30ms)); }), 30ms);
  std::error_code ec;
  EXPECT_FALSE(b.arrive_and_wait_for(5ms, ec));
  EXPECT_EQ(ec, errc::timed_out);
}

TEST_P(barriers, are_broken_for_the_others_when_one_gives_up) {
  auto waiter = start([&] {
    std::error_code ec;
    barrier(two, name, 3).arrive_and_wait({}, ec);
    return ec;
  });
  EXPECT_TRUE(has_waited(two));
  EXPECT_FALSE(barrier(one, name, 3).arrive_and_wait_for(1s));
  EXPECT_EQ(waiter.get(), errc::broken);
}

TEST_P(barriers, are_broken_for_the_others_when_one_is_stopped) {
  auto waiter = start([&] { return thrown_by([&] { barrier(two, name, 3).arrive_and_wait(); }); });
  EXPECT_TRUE(has_waited(two));
  std::stop_source stop;
  auto stopped = start([&] {
    std::error_code ec;
    barrier(one, name, 3).arrive_and_wait(stop.get_token(), ec);
    return ec;
  });
  EXPECT_TRUE(has_waited(one));
  stop.request_stop();
  EXPECT_EQ(stopped.get(), errc::cancelled);
  EXPECT_EQ(waiter.get(), errc::broken);
}

TEST_P(barriers, are_broken_for_the_others_when_a_client_closes) {
  auto waiter = start([&] { return thrown_by([&] { barrier(two, name, 3).arrive_and_wait(); }); });
  EXPECT_TRUE(has_waited(two));
  auto closed = start([&] { return thrown_by([&] { barrier(one, name, 3).arrive_and_wait(); }); });
  EXPECT_TRUE(has_waited(one));
  one.close();
  EXPECT_EQ(closed.get(), errc::closed);
  EXPECT_EQ(waiter.get(), errc::broken);
}

TEST_P(barriers, work_again_after_a_broken_round) {
  {
    const client leaver = connect();
    EXPECT_FALSE(barrier(leaver, name, 2).arrive_and_wait_for(1s));  // it has come by then
  }  // and has left now, also on a slow engine, where one that gives up may leave behind its caller
  in_parallel(2, [&](int i) {
    EXPECT_TRUE(barrier(i ? one : two, name, 2).arrive_and_wait_for(long_time));
  });
}

TEST_P(barriers, refuse_no_participants) {
  EXPECT_EQ(thrown_by([&] { barrier(one, name, 0); }), errc::bad_argument);
}

TEST_P(barriers, refuse_another_number_of_participants_and_say_which_one_holds) {
  std::stop_source stop;
  auto waiter = start([&] {
    std::error_code ec;
    barrier(two, name, 37).arrive_and_wait(stop.get_token(), ec);
    return ec;
  });
  EXPECT_TRUE(has_waited(two));
  for (int i = 0; i < 5; ++i) {
    const auto failed =
        failure_of([&] { barrier(one, name, 38).arrive_and_wait_for(slowness * 1s); });
    EXPECT_EQ(failed.code, errc::wrong_use);
    EXPECT_NE(failed.message.find("37"), std::string::npos) << failed.message;
  }
  stop.request_stop();
  EXPECT_EQ(waiter.get(), errc::cancelled) << "who waits is not disturbed";
}

AFAR_FOR_EVERY_ENGINE(barriers);

}  // namespace
}  // namespace afar::test
