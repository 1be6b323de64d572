// The search for an order: histories that have one, and histories that only look as if they had.
#include "torture/linear.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace afar::torture {
namespace {

using outcome = explanation::outcome;

deed_done add(std::int64_t from, std::int64_t to, std::int64_t saw) {
  return {.what = deed::add, .result = saw, .from = from, .to = to};
}
deed_done read(std::int64_t from, std::int64_t to, std::int64_t saw) {
  return {.what = deed::read, .result = saw, .from = from, .to = to};
}
deed_done take(std::int64_t from, std::int64_t to, bool got = true) {
  return {.what = got ? deed::take : deed::refuse, .from = from, .to = to};
}
deed_done down(std::int64_t from, std::int64_t to, std::int64_t n = 1) {
  return {.what = deed::down, .amount = n, .from = from, .to = to};
}
deed_done pass(std::int64_t from, std::int64_t to) {
  return {.what = deed::pass, .from = from, .to = to};
}
deed_done unknown(deed_done d) {
  d.known = false;
  return d;
}

outcome of(std::vector<deed_done> all, std::int64_t initial = 0, std::int64_t limit = 0) {
  return explain({.initial = initial, .limit = limit, .all = std::move(all)}).is;
}

TEST(linear, explains_additions_one_after_the_other) {
  EXPECT_EQ(of({}), outcome::found);
  EXPECT_EQ(of({add(0, 1, 0), add(2, 3, 1), read(4, 5, 2)}), outcome::found);
}

TEST(linear, lets_additions_under_way_together_have_any_order) {
  EXPECT_EQ(of({add(0, 10, 1), add(1, 9, 2), add(2, 8, 0), read(11, 12, 3)}), outcome::found);
}

TEST(linear, finds_a_value_that_went_back) {
  EXPECT_EQ(of({add(0, 1, 0), add(2, 3, 1), read(4, 5, 1)}), outcome::none);
}

TEST(linear, finds_a_value_that_two_saw) {
  EXPECT_EQ(of({add(0, 10, 0), add(1, 9, 0)}), outcome::none);
}

// Two readers who saw two additions in different orders: each alone is right.
TEST(linear, finds_two_who_disagree_about_the_order) {
  EXPECT_EQ(of({add(0, 100, 0), add(0, 100, 1), read(10, 20, 1), read(30, 40, 0)}), outcome::none);
  EXPECT_EQ(of({add(0, 100, 0), add(0, 100, 1), read(10, 20, 0), read(30, 40, 1)}), outcome::found);
}

TEST(linear, says_whose_answer_cannot_be_explained) {
  const auto e = explain({.all = {add(0, 1, 0), read(2, 3, 7), add(4, 5, 1)}});
  EXPECT_EQ(e.is, outcome::none);
  ASSERT_TRUE(e.culprit.has_value());
  EXPECT_EQ(e.culprit->result, 7);
  EXPECT_EQ(e.culprit->to, 3);
}

TEST(linear, takes_an_unknown_addition_as_done_or_not_as_it_fits) {
  EXPECT_EQ(of({unknown(add(0, 0, 0)), add(2, 3, 0), read(4, 5, 1)}), outcome::found) << "not done";
  EXPECT_EQ(of({unknown(add(0, 0, 0)), add(2, 3, 1), read(4, 5, 2)}), outcome::found) << "done";
  EXPECT_EQ(of({unknown(add(0, 0, 0)), add(2, 3, 0), read(4, 5, 1), read(6, 7, 2)}), outcome::found)
      << "done late";
}

TEST(linear, finds_an_unknown_addition_that_counted_twice_or_was_undone) {
  EXPECT_EQ(of({unknown(add(0, 0, 0)), read(2, 3, 2)}), outcome::none);
  EXPECT_EQ(of({unknown(add(0, 0, 0)), read(2, 3, 1), read(4, 5, 0)}), outcome::none);
}

TEST(linear, finds_an_unknown_addition_that_was_seen_before_its_request) {
  EXPECT_EQ(of({read(0, 1, 1), unknown(add(2, 0, 0))}), outcome::none);
  EXPECT_EQ(of({read(0, 2, 1), unknown(add(1, 0, 0))}), outcome::found);
}

TEST(linear, finds_units_that_were_sold_although_none_was_left) {
  EXPECT_EQ(of({take(0, 1), take(2, 3), take(4, 5, false)}, 0, 2), outcome::found);
  EXPECT_EQ(of({take(0, 1), take(2, 3), take(4, 5)}, 0, 2), outcome::none);
  EXPECT_EQ(of({take(0, 1), take(2, 3, false)}, 0, 2), outcome::none) << "there was one";
}

TEST(linear, lets_an_unknown_order_have_the_last_unit) {
  EXPECT_EQ(of({unknown(take(0, 0)), take(1, 2, false)}, 0, 1), outcome::found);
  EXPECT_EQ(of({unknown(take(0, 0)), take(1, 2, false), take(3, 4)}, 0, 1), outcome::none)
      << "sold out, and then not";
}

TEST(linear, opens_a_latch_when_all_has_been_counted) {
  EXPECT_EQ(of({down(0, 1), down(2, 3, 2), pass(0, 4), read(5, 6, 0)}, 3), outcome::found);
  EXPECT_EQ(of({down(0, 1), down(2, 3), down(4, 5), down(6, 7), read(8, 9, 0)}, 3), outcome::found)
      << "never below zero";
}

TEST(linear, finds_a_latch_that_opened_early_or_closed_again) {
  EXPECT_EQ(of({down(0, 1), down(2, 3), pass(0, 4)}, 3), outcome::none);
  EXPECT_EQ(of({down(0, 1), pass(0, 2), read(3, 4, 1)}, 1), outcome::none);
  EXPECT_EQ(of({down(0, 1), read(2, 3, 1)}, 3), outcome::none) << "counted twice";
}

TEST(linear, lets_an_unknown_count_down_open_a_latch) {
  EXPECT_EQ(of({down(0, 1), unknown(down(2, 0)), pass(3, 9)}, 2), outcome::found);
  EXPECT_EQ(of({down(0, 1), unknown(down(2, 0)), read(3, 4, 1), pass(5, 9)}, 2), outcome::found);
  EXPECT_EQ(of({down(0, 1), unknown(down(2, 0)), pass(3, 9)}, 3), outcome::none);
}

TEST(linear, gives_up_rather_than_search_for_ever) {
  std::vector<deed_done> all;
  for (int i = 0; i < 40; ++i) all.push_back(take(0, 100 + i));
  EXPECT_EQ(explain({.limit = 100, .all = all}, 1'000).is, outcome::too_many);
  for (int i = 0; i < 40; ++i) all.push_back(take(0, 100 + i));
  EXPECT_EQ(explain({.limit = 100, .all = all}).is, outcome::too_many) << "under way at once";
}

// Histories made by a value that is right, in which threads overlap and some lose their answers; then one
// answer of each is made wrong.
TEST(linear, explains_what_a_value_did_and_nothing_else) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::minstd_rand dice{seed};
    std::vector<deed_done> all;
    std::int64_t value = 0;
    std::int64_t busy_until[4] = {};
    std::int64_t effect = 0;
    for (int i = 0; i < 60; ++i) {
      std::int64_t& thread = busy_until[dice() % 4];
      effect = std::max(effect, thread + 1) + static_cast<std::int64_t>(dice() % 3);
      auto d = dice() % 3 != 0 ? add(0, 0, value) : read(0, 0, value);
      d.from = std::max(thread + 1, effect - static_cast<std::int64_t>(dice() % 10));
      d.to = thread = effect + static_cast<std::int64_t>(dice() % 10);
      if (d.what == deed::add) ++value;
      d.known = dice() % 10 != 0;
      all.push_back(d);
    }
    all.push_back(read(effect + 100, effect + 101, value));
    ASSERT_EQ(of(all), outcome::found) << "seed " << seed;
    const auto doubts = std::ranges::count_if(
        all, [](const deed_done& d) { return !d.known && d.what == deed::add; });
    all.back().result = value + 1 + doubts;
    ASSERT_EQ(of(all), outcome::none) << "seed " << seed;
  }
}

}  // namespace
}  // namespace afar::torture
