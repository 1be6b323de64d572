// Reservations, and stock under contention: never oversold, nothing lost.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"

#include <afar/stock.hpp>

#include <atomic>
#include <string>

namespace afar::test {
namespace {

// A reservation that its buyer decides about before it is over, also on a busy machine.
constexpr milliseconds some_time = slowness * 500ms;

class reservations : public engine_test {
 protected:
  void SetUp() override { need<stock>("stock"); }
};

TEST_P(reservations, are_final_when_committed) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", some_time), take_result::taken);
  EXPECT_EQ(s.remaining(), 3);
  EXPECT_EQ(s.commit("order"), order_result::done);
  EXPECT_EQ(s.commit("order"), order_result::done);
  hold_still(some_time + 20ms);
  const auto levels = s.levels();
  EXPECT_EQ(levels->remaining, 3);
  EXPECT_EQ(levels->reserved, 0);
  EXPECT_EQ(levels->taken, 2);
}

TEST_P(reservations, come_back_once_when_cancelled) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", some_time), take_result::taken);
  EXPECT_EQ(s.cancel("order"), order_result::done);
  EXPECT_EQ(s.cancel("order"), order_result::done);
  EXPECT_EQ(s.remaining(), 5);
  hold_still(some_time + 20ms);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(reservations, come_back_once_when_their_time_is_over) {
  stock s{one, name};
  s.set(5);
  // Longer than a stall of a busy machine.
  EXPECT_EQ(s.reserve(2, "first", "buyer", 1s), take_result::taken);
  EXPECT_EQ(s.reserve(3, "second", "buyer", 1s), take_result::taken);
  EXPECT_EQ(stock(two, name).take(1, "other"), take_result::sold_out);
  EXPECT_TRUE(eventually([&] { return s.remaining() == 5; }));
  EXPECT_EQ(s.cancel("first"), order_result::expired);
  EXPECT_EQ(s.commit("second"), order_result::expired);
  EXPECT_EQ(s.remaining(), 5);
  EXPECT_EQ(s.levels()->reserved, 0);
}

TEST_P(reservations, come_back_no_earlier_than_their_time) {
  stock s{one, name};
  s.set(1);
  const auto start = boot_clock::now();
  EXPECT_EQ(s.reserve(1, "order", "buyer", 80ms), take_result::taken);
  EXPECT_TRUE(eventually([&] { return s.remaining() == 1; }));
  EXPECT_GE(boot_clock::now() - start, 80ms);
}

TEST_P(reservations, free_units_for_another_without_anybody_cleaning_up) {
  stock s{one, name};
  s.set(1);
  EXPECT_EQ(s.reserve(1, "order", "buyer", 50ms), take_result::taken);
  stock theirs{two, name};
  EXPECT_TRUE(eventually([&] { return theirs.take(1, "next") == take_result::taken; }));
  EXPECT_EQ(s.commit("order"), order_result::expired);
}

TEST_P(reservations, reserve_once_for_a_repeated_order) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.remaining(), 3);
  EXPECT_EQ(s.reserve(3, "order", "buyer", 1h), take_result::already_taken);
}

TEST_P(reservations, are_not_reserved_again_once_they_came_back) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.cancel("order"), order_result::done);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::already_taken);
}

TEST_P(reservations, cannot_be_cancelled_after_the_commit) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.commit("order"), order_result::done);
  EXPECT_EQ(s.cancel("order"), order_result::no_such_order);
  EXPECT_EQ(s.remaining(), 3);
}

TEST_P(reservations, can_be_put_back_after_the_commit) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.commit("order"), order_result::done);
  EXPECT_EQ(s.put_back("order"), order_result::done);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(reservations, cannot_be_committed_after_the_cancel) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.reserve(2, "order", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.cancel("order"), order_result::done);
  EXPECT_NE(s.commit("order"), order_result::done);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(reservations, of_unknown_orders_can_be_neither_committed_nor_cancelled) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.commit("unknown"), order_result::no_such_order);
  EXPECT_EQ(s.cancel("unknown"), order_result::no_such_order);
}

TEST_P(reservations, are_sold_out_like_everything_else) {
  stock s{one, name};
  s.set(2);
  EXPECT_EQ(s.reserve(2, "first", "buyer", 1h), take_result::taken);
  EXPECT_EQ(s.reserve(1, "second", "buyer", 1h), take_result::sold_out);
}

TEST_P(reservations, count_as_the_buyers_share_until_they_come_back) {
  stock s{one, name};
  s.set(9, {.per_buyer = 2});
  EXPECT_EQ(s.reserve(2, "first", "anna", 1s), take_result::taken);
  EXPECT_EQ(s.take(1, "second", "anna"), take_result::limit_reached);
  EXPECT_TRUE(eventually([&] { return s.take(2, "third", "anna") == take_result::taken; }));
}

TEST_P(reservations, are_gone_for_good_for_one_buyer_only_when_two_want_the_last) {
  stock s{one, name};
  s.set(1);
  std::atomic<int> sold{0};
  in_parallel(4, [&](int i) {
    stock mine{i % 2 ? one : two, name};
    if (mine.take(1, "order" + std::to_string(i)) == take_result::taken) ++sold;
  });
  EXPECT_EQ(sold, 1);
}

TEST_P(reservations, of_one_order_made_at_once_by_many_take_effect_once) {
  stock s{one, name};
  s.set(10);
  std::atomic<int> answered{0};
  in_parallel(4, [&](int i) {
    stock mine{i % 2 ? one : two, name};
    if (mine.take(3, "order", "buyer") == take_result::taken) ++answered;
  });
  EXPECT_EQ(answered, 4);
  EXPECT_EQ(s.remaining(), 7);
}

// Everybody takes, reserves, commits, cancels and puts back; the sum never changes.
TEST_P(reservations, conserve_the_sum_under_contention) {
  constexpr std::int64_t units = 12;
  stock s{one, name};
  s.set(units);
  std::atomic<std::int64_t> kept{0};
  std::atomic<bool> running{true};
  auto auditor = start([&] {
    stock mine{two, name};
    while (running) {
      const auto now = mine.levels();
      EXPECT_GE(now->remaining, 0);
      EXPECT_EQ(now->remaining + now->reserved + now->taken, units);
    }
  });
  in_parallel(4, [&](int i) {
    stock mine{i % 2 ? one : two, name};
    for (int round = 0; round < 25; ++round) {
      const std::string order = std::to_string(i) + "/" + std::to_string(round);
      switch ((i + round) % 5) {
        case 0:
          if (mine.take(2, order) == take_result::taken &&
              mine.put_back(order) != order_result::done)
            ADD_FAILURE() << order;
          break;
        case 1:
          if (mine.reserve(3, order, "b", 1h) == take_result::taken) mine.cancel(order);
          break;
        case 2:
          mine.reserve(1, order, "b", 10ms);
          break;
        case 3:
          if (round > 20 && mine.reserve(1, order, "b", 1h) == take_result::taken &&
              mine.commit(order) == order_result::done)
            ++kept;
          break;
        default:
          if (round > 20 && mine.take(1, order) == take_result::taken) ++kept;
      }
    }
  });
  running = false;
  auditor.get();
  EXPECT_TRUE(eventually([&] { return s.levels()->reserved == 0; }));
  EXPECT_EQ(s.levels()->taken, kept);
  EXPECT_EQ(s.remaining(), units - kept);
}

AFAR_FOR_EVERY_ENGINE(reservations);

}  // namespace
}  // namespace afar::test
