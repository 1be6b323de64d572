// Stock: what every call answers.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"

#include <afar/stock.hpp>

namespace afar::test {
namespace {

using std::chrono::system_clock;

class stocks : public engine_test {
 protected:
  void SetUp() override { need<stock>("stock"); }
};

TEST_P(stocks, give_what_they_have) {
  stock s{one, name};
  s.set(3);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  EXPECT_EQ(s.remaining(), 1);
}

TEST_P(stocks, are_shared_by_clients) {
  stock mine{one, name};
  stock theirs{two, name};
  mine.set(1);
  EXPECT_EQ(theirs.take(1, "theirs"), take_result::taken);
  EXPECT_EQ(mine.take(1, "mine"), take_result::sold_out);
}

TEST_P(stocks, are_sold_out_when_less_remains_than_was_asked_for) {
  stock s{one, name};
  s.set(2);
  EXPECT_EQ(s.take(3, "large"), take_result::sold_out);
  EXPECT_EQ(s.remaining(), 2);
  EXPECT_EQ(s.take(2, "small"), take_result::taken);
  EXPECT_EQ(s.take(1, "late"), take_result::sold_out);
}

TEST_P(stocks, tell_absent_from_sold_out) {
  stock s{one, name};
  EXPECT_EQ(s.take(1, "order"), take_result::no_such_stock);
  EXPECT_EQ(s.reserve(1, "order", "buyer", 1s), take_result::no_such_stock);
  EXPECT_EQ(s.put_back("order"), order_result::no_such_stock);
  EXPECT_EQ(s.commit("order"), order_result::no_such_stock);
  EXPECT_EQ(s.cancel("order"), order_result::no_such_stock);
  EXPECT_EQ(s.remaining(), std::nullopt);
  EXPECT_FALSE(s.levels());
  EXPECT_FALSE(s.add(1));
  s.set(0);
  EXPECT_EQ(s.take(1, "order"), take_result::sold_out);
  EXPECT_EQ(s.remaining(), 0);
}

TEST_P(stocks, take_once_for_a_repeated_order) {
  stock s{one, name};
  s.set(10);
  EXPECT_EQ(s.take(3, "order", "buyer"), take_result::taken);
  EXPECT_EQ(s.take(3, "order", "buyer"), take_result::taken);
  EXPECT_EQ(stock(two, name).take(3, "order", "buyer"), take_result::taken);
  EXPECT_EQ(s.remaining(), 7);
}

TEST_P(stocks, answer_a_repeated_order_also_when_nothing_remains) {
  stock s{one, name};
  s.set(1);
  EXPECT_EQ(s.take(1, "order"), take_result::taken);
  EXPECT_EQ(s.take(1, "order"), take_result::taken);
}

TEST_P(stocks, may_take_an_order_that_was_refused_before) {
  stock s{one, name};
  s.set(0);
  EXPECT_EQ(s.take(1, "order"), take_result::sold_out);
  EXPECT_TRUE(s.add(1));
  EXPECT_EQ(s.take(1, "order"), take_result::taken);
}

TEST_P(stocks, refuse_an_order_id_that_stands_for_something_else) {
  stock s{one, name};
  s.set(10);
  EXPECT_EQ(s.take(1, "order", "buyer"), take_result::taken);
  EXPECT_EQ(s.take(2, "order", "buyer"), take_result::already_taken);
  EXPECT_EQ(s.take(1, "order", "another"), take_result::already_taken);
  EXPECT_EQ(s.remaining(), 9);
}

TEST_P(stocks, put_back_exactly_once) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  EXPECT_EQ(s.put_back("order"), order_result::done);
  EXPECT_EQ(s.put_back("order"), order_result::done);
  EXPECT_EQ(stock(two, name).put_back("order"), order_result::done);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(stocks, do_not_take_again_for_an_order_that_was_put_back) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  EXPECT_EQ(s.put_back("order"), order_result::done);
  EXPECT_EQ(s.take(2, "order"), take_result::already_taken);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(stocks, put_back_nothing_for_an_unknown_order) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.put_back("unknown"), order_result::no_such_order);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(stocks, limit_what_one_buyer_may_have) {
  stock s{one, name};
  s.set(10, {.per_buyer = 2});
  EXPECT_EQ(s.take(1, "a1", "anna"), take_result::taken);
  EXPECT_EQ(s.take(2, "a2", "anna"), take_result::limit_reached);
  EXPECT_EQ(s.take(1, "a3", "anna"), take_result::taken);
  EXPECT_EQ(s.take(1, "a4", "anna"), take_result::limit_reached);
  EXPECT_EQ(s.take(2, "b1", "bert"), take_result::taken);
  EXPECT_EQ(s.remaining(), 6);
}

TEST_P(stocks, give_a_buyer_the_share_back_that_was_put_back) {
  stock s{one, name};
  s.set(10, {.per_buyer = 1});
  EXPECT_EQ(s.take(1, "a1", "anna"), take_result::taken);
  EXPECT_EQ(s.put_back("a1"), order_result::done);
  EXPECT_EQ(s.take(1, "a2", "anna"), take_result::taken);
  EXPECT_EQ(s.take(1, "a3", "anna"), take_result::limit_reached);
}

TEST_P(stocks, open_when_it_is_time) {
  stock s{one, name};
  s.set(1, {.opens = system_clock::now() + 300ms});
  EXPECT_EQ(s.take(1, "early"), take_result::not_open_yet);
  EXPECT_EQ(s.reserve(1, "early", "buyer", 1s), take_result::not_open_yet);
  EXPECT_TRUE(eventually([&] { return s.take(1, "order") == take_result::taken; }));
}

TEST_P(stocks, do_not_open_early) {
  stock s{one, name};
  const auto opens = system_clock::now() + 100ms;
  s.set(1, {.opens = opens});
  EXPECT_TRUE(eventually([&] { return s.take(1, "order") == take_result::taken; }));
  EXPECT_GE(system_clock::now(), std::chrono::floor<milliseconds>(opens));
}

TEST_P(stocks, close_when_it_is_time) {
  stock s{one, name};
  s.set(1'000'000, {.closes = system_clock::now() + 100ms});
  int n = 0;
  EXPECT_TRUE(
      eventually([&] { return s.take(1, "order" + std::to_string(++n)) == take_result::closed; }));
  EXPECT_EQ(s.reserve(1, "late", "buyer", 1s), take_result::closed);
}

TEST_P(stocks, take_orders_back_when_closed) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  s.set(3, {.closes = system_clock::now() - 1s});
  EXPECT_EQ(s.take(1, "late"), take_result::closed);
  EXPECT_EQ(s.put_back("order"), order_result::done);
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(stocks, keep_orders_when_set_again) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  s.set(10);
  EXPECT_EQ(s.remaining(), 10);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  EXPECT_EQ(s.remaining(), 10);
  EXPECT_EQ(s.levels()->taken, 2);
}

TEST_P(stocks, add_and_remove_but_not_below_zero) {
  stock s{one, name};
  s.set(5);
  EXPECT_TRUE(s.add(3));
  EXPECT_TRUE(s.add(-8));
  EXPECT_FALSE(s.add(-1));
  EXPECT_EQ(s.remaining(), 0);
}

TEST_P(stocks, know_their_levels) {
  stock s{one, name};
  s.set(10);
  EXPECT_EQ(s.take(2, "taken"), take_result::taken);
  EXPECT_EQ(s.reserve(3, "reserved", "buyer", 1h), take_result::taken);
  const auto levels = stock(two, name).levels();
  ASSERT_TRUE(levels);
  EXPECT_EQ(levels->remaining, 5);
  EXPECT_EQ(levels->reserved, 3);
  EXPECT_EQ(levels->taken, 2);
}

TEST_P(stocks, forget_everything_when_erased) {
  stock s{one, name};
  s.set(5);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  s.erase();
  EXPECT_EQ(s.take(2, "order"), take_result::no_such_stock);
  s.set(5);
  EXPECT_EQ(s.take(2, "order"), take_result::taken);
  EXPECT_EQ(s.remaining(), 3);
}

TEST_P(stocks, refuse_arguments_out_of_range) {
  stock s{one, name};
  s.set(5);
  const auto refused = [](auto work) { EXPECT_EQ(thrown_by(work), errc::bad_argument); };
  refused([&] { s.set(-1); });
  refused([&] { s.take(0, "order"); });
  refused([&] { s.take(-1, "order"); });
  refused([&] { s.take(1, ""); });
  refused([&] { s.take(1, std::string(257, 'o')); });
  refused([&] { s.take(1, "order", std::string(257, 'b')); });
  refused([&] { s.reserve(1, "order", "buyer", 9ms); });
  refused([&] { s.reserve(1, "order", "buyer", 24h + 1ms); });
  EXPECT_EQ(s.remaining(), 5);
}

TEST_P(stocks, take_any_bytes_as_order_and_buyer) {
  stock s{one, name};
  s.set(10, {.per_buyer = 1});
  const std::string odd{"\0'\r\n\xff{}", 7};
  const std::string longest(256, 'x');
  EXPECT_EQ(s.take(1, odd, odd), take_result::taken);
  EXPECT_EQ(s.take(1, odd + "2", odd), take_result::limit_reached);
  EXPECT_EQ(s.take(1, longest, longest), take_result::taken);
  EXPECT_EQ(s.put_back(odd), order_result::done);
  EXPECT_EQ(s.put_back(longest), order_result::done);
}

TEST_P(stocks, refuse_calls_after_the_client_was_closed) {
  stock s{one, name};
  one.close();
  EXPECT_EQ(thrown_by([&] { s.take(1, "order"); }), errc::closed);
  std::error_code ec;
  s.levels(ec);
  EXPECT_EQ(ec, errc::closed);
}

AFAR_FOR_EVERY_ENGINE(stocks);

}  // namespace
}  // namespace afar::test
