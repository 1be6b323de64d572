#include "engines/records/cells.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace afar::test {
namespace {

using namespace std::chrono_literals;
using engines::records::result_life;
using spi::cell_action;
using spi::kind;

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

class cells_record : public ::testing::Test {
 protected:
  explicit cells_record(kind k = kind::counter) : kind_(k) {}

  spi::cell_change change(cell_action action, std::int64_t operand = 0) const {
    spi::cell_change ch;
    ch.what = {kind_, "x"};
    ch.action = action;
    ch.operand = operand;
    ch.initial = 0;
    return ch;
  }
  spi::cell_reply apply(const spi::cell_change& ch) {
    spi::cell_reply reply;
    effects = {};
    failed = engines::records::change(cell, ch, now, reply, effects);
    return reply;
  }
  spi::cell_reply add(std::int64_t n) { return apply(change(cell_action::add, n)); }
  spi::cell_reply store(std::int64_t n) { return apply(change(cell_action::store, n)); }
  spi::cell_reply load() {
    spi::cell_change ch = change(cell_action::load);
    ch.initial = std::nullopt;
    return apply(ch);
  }

  engines::records::cell cell;
  engines::records::cell_effects effects;
  spi::status failed;
  spi::time_point now{1h};

 private:
  kind kind_;
};

class latch_record : public cells_record {
 protected:
  latch_record() : cells_record(kind::latch) {}
  spi::cell_reply count_down(std::int64_t by, std::optional<std::int64_t> initial = 3) {
    spi::cell_change ch = change(cell_action::add, -by);
    ch.initial = initial;
    return apply(ch);
  }
};

// ---- values -------------------------------------------------------------------------------------

TEST_F(cells_record, adds_to_the_initial_value_if_missing) {
  spi::cell_change ch = change(cell_action::add, 5);
  ch.initial = 10;
  const auto reply = apply(ch);
  EXPECT_TRUE(reply.applied);
  EXPECT_FALSE(reply.exists);
  EXPECT_EQ(reply.before, 10);
  EXPECT_EQ(reply.value, 15);
  EXPECT_TRUE(effects.changed);
  EXPECT_TRUE(effects.woke);
  EXPECT_EQ(load().value, 15);
  EXPECT_TRUE(load().exists);
}

TEST_F(cells_record, is_not_created_by_a_load) {
  spi::cell_change ch = change(cell_action::load);
  ch.initial = 7;
  EXPECT_EQ(apply(ch).value, 7);
  EXPECT_FALSE(effects.changed);
  EXPECT_FALSE(cell.exists);
  EXPECT_FALSE(load().exists);
}

TEST_F(cells_record, is_not_changed_if_missing_without_an_initial_value) {
  for (const auto action : {cell_action::add, cell_action::store, cell_action::compare_exchange}) {
    spi::cell_change ch = change(action, 5);
    ch.initial = std::nullopt;
    EXPECT_FALSE(apply(ch).applied);
    EXPECT_FALSE(effects.changed);
  }
}

TEST_F(cells_record, stays_within_its_bounds) {
  spi::cell_change ch = change(cell_action::add, -1);
  ch.min = 0;
  const auto reply = apply(ch);
  EXPECT_FALSE(reply.applied);
  EXPECT_EQ(reply.value, 0);
  EXPECT_FALSE(effects.changed);
  EXPECT_FALSE(cell.exists);
  ch.operand = 11;
  ch.max = 10;
  EXPECT_FALSE(apply(ch).applied);
  ch.operand = 10;
  EXPECT_TRUE(apply(ch).applied);
}

TEST_F(cells_record, exchanges_only_the_expected_value) {
  store(5);
  spi::cell_change ch = change(cell_action::compare_exchange, 9);
  ch.expected = 4;
  auto reply = apply(ch);
  EXPECT_FALSE(reply.applied);
  EXPECT_EQ(reply.value, 5);
  ch.expected = 5;
  reply = apply(ch);
  EXPECT_TRUE(reply.applied);
  EXPECT_EQ(reply.before, 5);
  EXPECT_EQ(reply.value, 9);
}

TEST_F(cells_record, wakes_nobody_when_the_value_stays) {
  store(5);
  EXPECT_TRUE(effects.woke);
  store(5);
  EXPECT_TRUE(effects.changed);
  EXPECT_FALSE(effects.woke);
}

TEST_F(cells_record, reports_overflow_and_changes_nothing) {
  store(largest);
  add(1);
  EXPECT_EQ(failed.code, errc::overflow);
  EXPECT_FALSE(effects.changed);
  EXPECT_EQ(load().value, largest);
  store(smallest);
  add(-1);
  EXPECT_EQ(failed.code, errc::overflow);
}

TEST_F(cells_record, can_be_erased_and_made_again_as_another_kind) {
  store(5);
  spi::cell_change wrong = change(cell_action::add, 1);
  wrong.what.kind = kind::semaphore;
  apply(wrong);
  EXPECT_EQ(failed.code, errc::wrong_use);
  EXPECT_EQ(failed.detail.str(), "is a counter, not a counting_semaphore");
  const auto erased = apply(change(cell_action::erase));
  EXPECT_TRUE(erased.applied);
  EXPECT_EQ(erased.before, 5);
  EXPECT_TRUE(effects.woke);
  EXPECT_FALSE(apply(change(cell_action::erase)).applied);
  EXPECT_TRUE(apply(wrong).applied);
}

// ---- repeated changes ---------------------------------------------------------------------------

TEST_F(cells_record, applies_a_repeated_change_once_and_answers_the_same) {
  spi::cell_change ch = change(cell_action::add, 5);
  ch.id.owner = {1, 1, 1};
  apply(ch);
  add(100);
  const auto again = apply(ch);
  EXPECT_TRUE(again.applied);
  EXPECT_FALSE(again.exists);
  EXPECT_EQ(again.before, 0);
  EXPECT_EQ(again.value, 5);
  EXPECT_FALSE(effects.changed);
  EXPECT_EQ(load().value, 105);
}

TEST_F(cells_record, answers_a_repeated_erase_the_same) {
  store(5);
  spi::cell_change ch = change(cell_action::erase);
  ch.id.owner = {1, 1, 1};
  apply(ch);
  EXPECT_TRUE(apply(ch).applied);
  EXPECT_EQ(apply(ch).before, 5);
}

TEST_F(cells_record, forgets_results_that_the_client_has_settled) {
  spi::cell_change ch = change(cell_action::add, 1);
  for (std::uint64_t n = 1; n <= 10; ++n) {
    ch.id = {{1, 1, n}, n > 2 ? n - 2 : 0};
    apply(ch);
  }
  EXPECT_EQ(cell.results.size(), 3U);
  ch.id = {{2, 2, 1}, 1};
  apply(ch);
  EXPECT_EQ(cell.results.size(), 4U) << "those of another client stay";
}

TEST_F(cells_record, forgets_results_with_time) {
  spi::cell_change ch = change(cell_action::add, 1);
  ch.id.owner = {1, 1, 1};
  apply(ch);
  now += result_life + 1ms;
  ch.id.owner = {2, 2, 1};
  apply(ch);
  EXPECT_EQ(cell.results.size(), 1U);
}

TEST_F(cells_record, keeps_no_more_results_than_it_can_carry) {
  spi::cell_change ch = change(cell_action::add, 1);
  for (std::uint64_t client = 1; client <= 2'000; ++client) {
    ch.id.owner = {client, 0, 1};
    apply(ch);
  }
  EXPECT_EQ(cell.results.size(), engines::records::most_results);
  EXPECT_EQ(cell.results.back().op.client_high, 2'000U);
}

TEST_F(cells_record, is_collected_when_erased_and_nobody_can_ask_again) {
  spi::cell_change ch = change(cell_action::add, 1);
  ch.id.owner = {1, 1, 1};
  apply(ch);
  EXPECT_FALSE(collectable(cell, now + 24h * 365));
  apply(change(cell_action::erase));
  EXPECT_FALSE(collectable(cell, now));
  EXPECT_TRUE(collectable(cell, now + result_life + 1ms));
}

// ---- latch --------------------------------------------------------------------------------------

TEST_F(latch_record, counts_down_to_zero_and_stays_there) {
  EXPECT_EQ(count_down(1).value, 2);
  const auto last = count_down(5);
  EXPECT_TRUE(last.applied);
  EXPECT_EQ(last.value, 0) << "never below";
  const auto late = count_down(1);
  EXPECT_FALSE(late.applied);
  EXPECT_TRUE(late.exists);
  EXPECT_EQ(late.value, 0);
  EXPECT_FALSE(add(7).applied);
  EXPECT_FALSE(store(7).applied);
  EXPECT_EQ(load().value, 0);
}

TEST_F(latch_record, is_joined_without_a_count_only_if_it_exists) {
  EXPECT_FALSE(count_down(1, std::nullopt).applied);
  count_down(1);
  EXPECT_EQ(count_down(1, std::nullopt).value, 1);
}

TEST_F(latch_record, is_collected_a_day_after_it_opened) {
  count_down(3);
  EXPECT_FALSE(collectable(cell, now + 23h));
  EXPECT_TRUE(collectable(cell, now + 25h));
}

}  // namespace
}  // namespace afar::test
