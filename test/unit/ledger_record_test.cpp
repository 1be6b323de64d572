#include "engines/memory/memory_ledger.hpp"
#include "engines/records/ledger.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>

namespace afar::test {
namespace {

using namespace std::chrono_literals;
using outcome = spi::ledger_outcome;
using spi::ledger_action;

class ledger_record : public ::testing::Test {
 protected:
  static spi::ledger_change change(ledger_action action, std::int64_t amount = 0,
                                   std::string_view order = {}, std::string_view buyer = {}) {
    spi::ledger_change ch;
    ch.what = {spi::kind::stock, "x"};
    ch.action = action;
    ch.amount = amount;
    ch.order = order;
    ch.buyer = buyer;
    ch.hold_for = 10s;
    return ch;
  }
  outcome apply(const spi::ledger_change& ch) {
    failed = engines::records::record(pages, ch, now, today, reply);
    return reply.outcome;
  }
  outcome define(std::int64_t amount, std::uint32_t per_buyer = 0) {
    auto ch = change(ledger_action::define, amount);
    ch.per_buyer = per_buyer;
    return apply(ch);
  }
  outcome take(std::string_view order, std::int64_t amount, std::string_view buyer = "b") {
    return apply(change(ledger_action::take, amount, order, buyer));
  }
  outcome reserve(std::string_view order, std::int64_t amount, std::string_view buyer = "b") {
    return apply(change(ledger_action::reserve, amount, order, buyer));
  }
  outcome commit(std::string_view order) { return apply(change(ledger_action::commit, 0, order)); }
  outcome cancel(std::string_view order) { return apply(change(ledger_action::cancel, 0, order)); }
  outcome put_back(std::string_view order) {
    return apply(change(ledger_action::put_back, 0, order));
  }
  outcome load() { return apply(change(ledger_action::load)); }

  // remaining, reserved, taken
  void expect(std::int64_t remaining, std::int64_t reserved, std::int64_t taken) {
    load();
    EXPECT_EQ(reply.remaining, remaining);
    EXPECT_EQ(reply.reserved, reserved);
    EXPECT_EQ(reply.taken, taken);
  }

  engines::memory::memory_ledger pages;
  spi::time_point now{1h};
  spi::calendar_time today{1000s};
  spi::ledger_reply reply;
  spi::status failed;
};

// ---- the stock ----------------------------------------------------------------------------------

TEST_F(ledger_record, knows_nothing_before_it_is_defined) {
  for (const auto action :
       {ledger_action::load, ledger_action::restock, ledger_action::take, ledger_action::reserve,
        ledger_action::commit, ledger_action::cancel, ledger_action::put_back})
    EXPECT_EQ(apply(change(action, 1, "o", "b")), outcome::no_such_stock);
}

TEST_F(ledger_record, sells_down_to_zero_and_no_further) {
  define(3);
  EXPECT_EQ(take("1", 2), outcome::done);
  EXPECT_EQ(take("2", 2), outcome::sold_out);
  EXPECT_EQ(take("3", 1), outcome::done);
  expect(0, 0, 3);
}

TEST_F(ledger_record, keeps_the_orders_when_it_is_defined_anew) {
  define(3);
  take("1", 2);
  define(10);
  expect(10, 0, 2);
  EXPECT_EQ(take("1", 2), outcome::done);
  expect(10, 0, 2);
}

TEST_F(ledger_record, repeats_a_definition_without_giving_back_what_was_sold_since) {
  auto ch = change(ledger_action::define, 3);
  ch.id.owner = {1, 1, 1};
  apply(ch);
  take("1", 2);
  EXPECT_EQ(apply(ch), outcome::done);
  expect(1, 0, 2);
}

TEST_F(ledger_record, restocks_once_per_op) {
  define(3);
  auto ch = change(ledger_action::restock, 4);
  ch.id.owner = {1, 1, 1};
  apply(ch);
  EXPECT_EQ(reply.remaining, 7);
  take("1", 1);
  EXPECT_EQ(apply(ch), outcome::done);
  EXPECT_EQ(reply.remaining, 7) << "the first answer";
  expect(6, 0, 1);
}

TEST_F(ledger_record, is_not_restocked_below_zero) {
  define(3);
  EXPECT_EQ(apply(change(ledger_action::restock, -4)), outcome::sold_out);
  EXPECT_EQ(apply(change(ledger_action::restock, std::numeric_limits<std::int64_t>::min())),
            outcome::sold_out);
  expect(3, 0, 0);
  EXPECT_EQ(apply(change(ledger_action::restock, -3)), outcome::done);
  expect(0, 0, 0);
}

TEST_F(ledger_record, reports_overflow_and_changes_nothing) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  define(10);
  take("1", 5);
  apply(change(ledger_action::restock, largest - 5));
  EXPECT_EQ(failed.code, errc::overflow) << "what was sold counts";
  define(largest);
  EXPECT_EQ(failed.code, errc::overflow);
  expect(5, 0, 5);
  EXPECT_EQ(apply(change(ledger_action::restock, largest - 10)), outcome::done);
  EXPECT_EQ(put_back("1"), outcome::done);
  expect(largest, 0, 0);
}

TEST_F(ledger_record, refuses_orders_that_make_no_sense) {
  define(3);
  take("1", 0);
  EXPECT_EQ(failed.code, errc::bad_argument);
  reserve("1", -1);
  EXPECT_EQ(failed.code, errc::bad_argument);
  take("", 1);
  EXPECT_EQ(failed.code, errc::bad_argument);
  define(-1);
  EXPECT_EQ(failed.code, errc::bad_argument);
  expect(3, 0, 0);
}

TEST_F(ledger_record, forgets_everything_when_erased) {
  define(3);
  reserve("1", 2);
  EXPECT_EQ(apply(change(ledger_action::erase)), outcome::done);
  EXPECT_EQ(load(), outcome::no_such_stock);
  EXPECT_EQ(apply(change(ledger_action::erase)), outcome::done) << "repeated";
  define(5);
  now += 1h;
  expect(5, 0, 0);
}

// ---- orders -------------------------------------------------------------------------------------

TEST_F(ledger_record, takes_a_repeated_order_once) {
  define(3);
  EXPECT_EQ(take("1", 2), outcome::done);
  EXPECT_EQ(take("1", 2), outcome::done);
  EXPECT_EQ(reserve("2", 1), outcome::done);
  EXPECT_EQ(reserve("2", 1), outcome::done);
  expect(0, 1, 2);
}

TEST_F(ledger_record, refuses_an_order_id_that_stands_for_something_else) {
  define(9);
  take("1", 2, "anna");
  EXPECT_EQ(take("1", 3, "anna"), outcome::already_taken);
  EXPECT_EQ(take("1", 2, "otto"), outcome::already_taken);
  EXPECT_EQ(reserve("1", 2, "anna"), outcome::already_taken);
  reserve("2", 2, "anna");
  EXPECT_EQ(take("2", 2, "anna"), outcome::already_taken);
  put_back("1");
  EXPECT_EQ(take("1", 2, "anna"), outcome::already_taken);
}

TEST_F(ledger_record, takes_back_what_was_taken) {
  define(3);
  take("1", 2);
  EXPECT_EQ(put_back("1"), outcome::done);
  EXPECT_EQ(put_back("1"), outcome::done);
  EXPECT_EQ(put_back("2"), outcome::no_such_order);
  expect(3, 0, 0);
}

TEST_F(ledger_record, commits_a_reservation) {
  define(3);
  reserve("1", 2);
  EXPECT_EQ(commit("1"), outcome::done);
  EXPECT_EQ(commit("1"), outcome::done);
  EXPECT_EQ(commit("2"), outcome::no_such_order);
  now += 1h;
  expect(1, 0, 2);
  EXPECT_EQ(cancel("1"), outcome::already_taken);
  EXPECT_EQ(put_back("1"), outcome::done);
  EXPECT_EQ(commit("1"), outcome::already_taken);
}

TEST_F(ledger_record, cancels_a_reservation) {
  define(3);
  reserve("1", 2);
  EXPECT_EQ(put_back("1"), outcome::no_such_order) << "it is not taken yet";
  EXPECT_EQ(cancel("1"), outcome::done);
  EXPECT_EQ(cancel("1"), outcome::done);
  expect(3, 0, 0);
}

TEST_F(ledger_record, returns_a_reservation_when_its_time_is_over) {
  define(3);
  reserve("1", 3);
  EXPECT_EQ(take("2", 1), outcome::sold_out);
  now += 10s;
  EXPECT_EQ(take("2", 1), outcome::done);
  EXPECT_EQ(commit("1"), outcome::expired);
  EXPECT_EQ(cancel("1"), outcome::expired);
  EXPECT_EQ(reserve("1", 3), outcome::already_taken);
  expect(2, 0, 1);
}

TEST_F(ledger_record, returns_many_reservations_at_once_rather_than_refuse) {
  define(500);
  for (int i = 0; i < 500; ++i) reserve("r" + std::to_string(i), 1, "b" + std::to_string(i));
  now += 10s;
  EXPECT_EQ(commit("r499"), outcome::expired) << "although others are due before it";
  EXPECT_EQ(take("big", 500), outcome::done);
  expect(0, 0, 500);
}

// ---- limits -------------------------------------------------------------------------------------

TEST_F(ledger_record, gives_every_buyer_its_share_and_no_more) {
  define(10, 2);
  EXPECT_EQ(take("1", 1, "anna"), outcome::done);
  EXPECT_EQ(reserve("2", 1, "anna"), outcome::done);
  EXPECT_EQ(take("3", 1, "anna"), outcome::limit_reached);
  EXPECT_EQ(take("3", std::numeric_limits<std::int64_t>::max(), "otto"), outcome::limit_reached);
  EXPECT_EQ(take("3", 2, "otto"), outcome::done);
  now += 10s;
  EXPECT_EQ(take("4", 1, "anna"), outcome::done) << "her reservation came back";
  put_back("1");
  EXPECT_EQ(take("5", 1, "anna"), outcome::done);
}

TEST_F(ledger_record, sells_only_within_its_window) {
  auto ch = change(ledger_action::define, 10);
  ch.open = {.opens = today + 10s, .closes = today + 20s};
  apply(ch);
  EXPECT_EQ(take("1", 1), outcome::not_open_yet);
  today += 10s;
  EXPECT_EQ(take("1", 1), outcome::done);
  EXPECT_EQ(reserve("2", 1), outcome::done);
  today += 10s;
  EXPECT_EQ(take("3", 1), outcome::closed);
  EXPECT_EQ(take("1", 1), outcome::done) << "a repeated order is still answered";
  EXPECT_EQ(commit("2"), outcome::done);
}

TEST_F(ledger_record, says_the_first_reason_of_several) {
  auto ch = change(ledger_action::define, 0);
  ch.per_buyer = 1;
  apply(ch);
  EXPECT_EQ(take("1", 2), outcome::limit_reached) << "and it is sold out as well";
}

// ---- random -------------------------------------------------------------------------------------

class random_ledger : public ledger_record {
 protected:
  void step() {
    const std::string id = std::to_string(++steps_ / 20 + roll(30));  // old ids go out of use
    const std::string buyer(1, static_cast<char>('a' + roll(4)));
    if (roll(4) == 0) now += std::chrono::milliseconds{roll(8'000)};
    auto ch = change(actions[roll(std::size(actions))], 1 + static_cast<std::int64_t>(roll(5)), id,
                     buyer);
    if (ch.action == ledger_action::restock) ch.amount -= 3;
    if (roll(200) == 0) {
      ch.action = ledger_action::define;
      ch.amount = static_cast<std::int64_t>(roll(50));
      ch.per_buyer = static_cast<std::uint32_t>(roll(20));
    }
    const std::int64_t before = total();
    const auto said = apply(ch);
    ASSERT_FALSE(failed);
    if (said == outcome::done) remember(ch);
    check(ch, said, before);
  }

 private:
  static constexpr ledger_action actions[] = {
      ledger_action::take,   ledger_action::take,     ledger_action::reserve, ledger_action::commit,
      ledger_action::cancel, ledger_action::put_back, ledger_action::restock, ledger_action::load};

  std::uint64_t roll(std::uint64_t n) { return dice_() % n; }
  std::int64_t total() {
    const auto h = pages.head();
    return h ? h->remaining + h->reserved + h->taken : 0;
  }

  void remember(const spi::ledger_change& ch) {
    if (ch.action == ledger_action::take || ch.action == ledger_action::reserve)
      ids_.emplace(ch.order);
  }

  void check(const spi::ledger_change& ch, outcome said, std::int64_t before) {
    const auto h = pages.head();
    if (!h) return;
    ASSERT_GE(h->remaining, 0);
    std::int64_t reserved = 0;
    std::int64_t taken = 0;
    std::map<std::string, std::int64_t> units;
    for (const auto& id : ids_) {
      const auto o = pages.find(id);
      ASSERT_TRUE(o);
      if (o->state == engines::records::order_state::reserved) reserved += o->amount;
      if (o->state == engines::records::order_state::taken) taken += o->amount;
      if (o->state <= engines::records::order_state::reserved) units[o->buyer] += o->amount;
    }
    ASSERT_EQ(h->reserved, reserved);
    ASSERT_EQ(h->taken, taken);
    for (const char b : {'a', 'b', 'c', 'd'}) {
      const std::string buyer(1, b);
      ASSERT_EQ(pages.units_of(buyer), units[buyer]);
    }
    const bool adds = said == outcome::done && ch.action == ledger_action::restock;
    if (ch.action != ledger_action::define) {
      ASSERT_EQ(total(), before + (adds ? ch.amount : 0));
    }
    if (ch.action == ledger_action::load && pages.first_deadline()) {
      ASSERT_GT(pages.first_deadline()->first, now);
    }
  }

  std::uint64_t steps_ = 0;
  std::set<std::string> ids_;
  std::mt19937_64 dice_{42};
};

TEST_F(random_ledger, conserves_what_there_is) {
  define(30, 12);
  for (int i = 0; i < 8'000 && !HasFailure(); ++i) step();
}

}  // namespace
}  // namespace afar::test
