// The rules of latch, counting_semaphore, barrier and multi_lock, over histories that are made up: planted
// violations are found, and what only looks like one is not.
#include "torture/check.hpp"

#include <afar/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace afar::torture {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t ms = 1'000'000;
constexpr auto timed_out = static_cast<std::int64_t>(errc::timed_out);
constexpr auto broken = static_cast<std::int64_t>(errc::broken);

// One process whose threads each do one thing to object 0; times in milliseconds.
class story {
 public:
  story& changed(std::int64_t from, std::int64_t to, std::uint32_t weight = 1) {
    return both({.what = act::changing, .weight = weight}, from, {.what = act::changed}, to);
  }
  story& doubtful(std::int64_t from, std::int64_t to, std::uint32_t weight = 1) {
    return both({.what = act::changing, .weight = weight}, from, {.what = act::unknown}, to);
  }
  story& saw(std::int64_t from, std::int64_t to, std::int64_t value) {
    return both({.what = act::reading}, from, {.what = act::saw, .value = value}, to);
  }
  story& passed(std::int64_t from, std::int64_t to) {
    return both({.what = act::asked, .until = (from + 60'000) * ms}, from, {.what = act::passed},
                to);
  }
  story& gave_up(std::int64_t from, std::int64_t to, std::int64_t why = timed_out) {
    return both({.what = act::asked, .until = to * ms}, from, {.what = act::gave_up, .value = why},
                to);
  }
  // Began, and was killed before the answer.
  story& died_asking(std::int64_t from) {
    return add({.what = act::asked, .thread = thread_++, .at = from * ms, .until = never});
  }
  story& died_changing(std::int64_t from, std::uint32_t weight = 1) {
    return add({.what = act::changing, .thread = thread_++, .at = from * ms, .weight = weight});
  }
  story& killed(std::int64_t at) {
    life_.death = at * ms;
    return *this;
  }
  story& add(fact f) {
    life_.facts.push_back(f);
    return *this;
  }

  evidence as(sort s) const {
    evidence e;
    e.objects = {{s, "x"}};
    e.lives = {life_};
    e.crash_bound = 2'000 * ms;
    return e;
  }

 private:
  story& both(fact begin, std::int64_t from, fact end, std::int64_t to) {
    begin.thread = end.thread = thread_++;
    begin.at = from * ms;
    end.at = to * ms;
    add(begin);
    return add(end);
  }

  life life_;
  std::uint16_t thread_ = 0;
};

std::vector<std::string> rules(const evidence& e) {
  std::vector<std::string> out;
  for (const violation& v : check(e)) out.push_back(v.rule);
  return out;
}

// ---- latch ------------------------------------------------------------------------------------------

static_assert(latch_count == 5);

TEST(torture_latch, may_open_when_all_has_been_counted) {
  EXPECT_THAT(rules(story{}
                        .saw(0, 1, 5)
                        .changed(1, 2, 2)
                        .saw(2, 3, 3)
                        .changed(3, 4, 2)
                        .changed(3, 9)
                        .passed(0, 8)
                        .saw(9, 10, 0)
                        .as(sort::latch)),
              IsEmpty());
}

TEST(torture_latch, must_not_open_before) {
  EXPECT_THAT(rules(story{}.changed(1, 2, 4).passed(0, 8).as(sort::latch)),
              ElementsAre("a latch opens once"));
}

TEST(torture_latch, may_be_opened_by_what_nobody_knows) {
  EXPECT_THAT(
      rules(story{}.changed(1, 2, 4).died_changing(3).passed(0, 8).killed(9).as(sort::latch)),
      IsEmpty());
  EXPECT_THAT(rules(story{}.changed(1, 2, 4).doubtful(3, 4).saw(7, 8, 1).as(sort::latch)),
              IsEmpty());
}

TEST(torture_latch, must_not_count_a_repeated_request_twice) {
  EXPECT_THAT(rules(story{}.doubtful(1, 2).saw(3, 4, 3).as(sort::latch)),
              ElementsAre("a latch opens once"));
}

TEST(torture_latch, must_not_close_again) {
  EXPECT_THAT(rules(story{}.changed(1, 2, 5).passed(0, 8).saw(9, 10, 1).as(sort::latch)),
              ElementsAre("a latch opens once"));
}

// The sweeps look at each answer; only the search sees that a count-down that was answered is missing.
TEST(torture_latch, must_not_forget_a_count_down) {
  EXPECT_THAT(rules(story{}.changed(1, 2, 2).saw(3, 4, 5).as(sort::latch)),
              ElementsAre("one order explains it"));
}

TEST(torture_latch, lets_everybody_pass) {
  const auto late = story{}.changed(1, 2, 5).passed(0, 8).gave_up(10, 3'000);
  EXPECT_THAT(rules(late.as(sort::latch)), ElementsAre("nobody waits for nothing"));
  evidence excused = late.as(sort::latch);
  excused.incidents.push_back({"delay", 5 * ms, 500 * ms, true});
  EXPECT_THAT(rules(excused), IsEmpty());
  EXPECT_THAT(rules(story{}.changed(1, 2, 4).gave_up(10, 3'000).as(sort::latch)), IsEmpty())
      << "it is closed";
}

TEST(torture_latch, of_another_round_is_another_latch) {
  evidence e = story{}.changed(1, 2, 5).passed(0, 8).saw(9, 10, 5).as(sort::latch);
  for (fact& f : e.lives[0].facts)
    if (f.what == act::reading || f.what == act::saw) f.token = 1;
  EXPECT_THAT(rules(e), IsEmpty());
}

// ---- counting_semaphore -----------------------------------------------------------------------------

static_assert(permits == 3);

TEST(torture_semaphore, gives_what_was_returned_to_the_next) {
  evidence e =
      story{}.passed(0, 1).passed(0, 2).passed(0, 3).saw(4, 5, 0).changed(6, 9).passed(5, 8).as(
          sort::counting_semaphore);
  e.left[{0, 0}] = 0;
  EXPECT_THAT(rules(e), IsEmpty());
}

TEST(torture_semaphore, must_not_give_more_than_there_are) {
  EXPECT_THAT(rules(story{}.passed(0, 1).passed(0, 2).passed(0, 3).passed(0, 4).as(
                  sort::counting_semaphore)),
              ElementsAre("permits are conserved"));
}

TEST(torture_semaphore, must_not_give_again_what_the_dead_had) {
  evidence e =
      story{}.passed(0, 1).passed(0, 2).passed(0, 3).killed(4).as(sort::counting_semaphore);
  e.lives.push_back(story{}.passed(5'000, 5'001).as(sort::counting_semaphore).lives[0]);
  EXPECT_THAT(rules(e), ElementsAre("permits are conserved"));
}

TEST(torture_semaphore, must_not_be_below_zero_or_above_all) {
  EXPECT_THAT(rules(story{}.saw(0, 1, -1).as(sort::counting_semaphore)),
              ElementsAre("permits are conserved"));
  EXPECT_THAT(rules(story{}.saw(0, 1, 4).as(sort::counting_semaphore)),
              ElementsAre("permits are conserved"));
}

TEST(torture_semaphore, must_not_lose_or_find_permits) {
  evidence e = story{}.passed(0, 1).changed(2, 3).gave_up(0, 1).as(sort::counting_semaphore);
  e.left[{0, 0}] = 3;
  EXPECT_THAT(rules(e), IsEmpty());
  e.left[{0, 0}] = 2;
  EXPECT_THAT(rules(e), ElementsAre("permits are conserved"));
  e.left[{0, 0}] = 4;
  EXPECT_THAT(rules(e), ElementsAre("permits are conserved"));
}

TEST(torture_semaphore, may_have_what_nobody_knows) {
  evidence e = story{}.passed(0, 1).doubtful(2, 3).as(sort::counting_semaphore);
  for (const std::int64_t left : {2, 3}) {
    e.left[{0, 0}] = left;
    EXPECT_THAT(rules(e), IsEmpty());
  }
  e = story{}.died_asking(0).killed(2).as(sort::counting_semaphore);
  for (const std::int64_t left : {2, 3}) {
    e.left[{0, 0}] = left;
    EXPECT_THAT(rules(e), IsEmpty());
  }
  e.left[{0, 0}] = 1;
  EXPECT_THAT(rules(e), ElementsAre("permits are conserved"));
}

TEST(torture_semaphore, lets_nobody_wait_for_a_free_permit) {
  const auto slow = story{}.passed(0, 1).gave_up(10, 3'000);
  EXPECT_THAT(rules(slow.as(sort::counting_semaphore)), ElementsAre("nobody waits for nothing"));
  evidence excused = slow.as(sort::counting_semaphore);
  excused.incidents.push_back({"kill a holder", 5 * ms, 5 * ms, true});
  EXPECT_THAT(rules(excused), IsEmpty());
  EXPECT_THAT(rules(story{}.passed(0, 1).passed(0, 1).passed(0, 1).gave_up(10, 3'000).as(
                  sort::counting_semaphore)),
              IsEmpty())
      << "there is none";
}

// ---- barrier ----------------------------------------------------------------------------------------

static_assert(participants == 3);

TEST(torture_barrier, lets_groups_pass) {
  EXPECT_THAT(rules(story{}.passed(0, 10).passed(1, 11).passed(9, 12).as(sort::barrier)),
              IsEmpty());
  EXPECT_THAT(rules(story{}
                        .passed(0, 10)
                        .passed(1, 11)
                        .passed(9, 22)  // with the next ones
                        .passed(2, 10)
                        .passed(15, 21)
                        .passed(16, 20)
                        .as(sort::barrier)),
              IsEmpty());
}

TEST(torture_barrier, must_not_open_before_all_are_there) {
  EXPECT_THAT(rules(story{}.passed(0, 10).passed(1, 11).as(sort::barrier)), Not(IsEmpty()));
  EXPECT_THAT(rules(story{}.passed(0, 10).passed(1, 11).passed(12, 13).as(sort::barrier)),
              Each("a barrier opens when all are there"));
  EXPECT_THAT(rules(story{}.passed(0, 10).passed(1, 11).passed(12, 13).as(sort::barrier)),
              Not(IsEmpty()));
}

// At every one's pass three were there; but five have passed, and nobody else came.
TEST(torture_barrier, must_not_let_more_pass_than_have_come) {
  EXPECT_THAT(
      rules(story{}.passed(0, 10).passed(1, 11).passed(2, 20).passed(3, 20).passed(4, 20).as(
          sort::barrier)),
      ElementsAre("a barrier opens when all are there"));
}

TEST(torture_barrier, may_count_one_that_died_or_gave_up) {
  EXPECT_THAT(
      rules(story{}.died_asking(0).passed(1, 11).passed(2, 10).killed(12).as(sort::barrier)),
      IsEmpty());
  EXPECT_THAT(rules(story{}.gave_up(0, 9).passed(1, 11).passed(2, 10).as(sort::barrier)),
              IsEmpty());
  EXPECT_THAT(
      rules(story{}.gave_up(0, 9).passed(5'001, 5'011).passed(5'002, 5'010).as(sort::barrier)),
      Not(IsEmpty()))
      << "long ago";
}

TEST(torture_barrier, breaks_only_if_somebody_left) {
  EXPECT_THAT(rules(story{}.gave_up(0, 9).gave_up(1, 10, broken).as(sort::barrier)), IsEmpty());
  EXPECT_THAT(rules(story{}.gave_up(1, 10, broken).as(sort::barrier)),
              ElementsAre("a barrier opens when all are there"));
  evidence excused = story{}.gave_up(1, 10, broken).as(sort::barrier);
  excused.incidents.push_back({"stopped", 2 * ms, 9 * ms, true});
  EXPECT_THAT(rules(excused), IsEmpty());
  const fact stall{.what = act::stalled, .at = 400 * ms, .until = 9 * ms};
  EXPECT_THAT(rules(story{}.gave_up(1, 410, broken).add(stall).as(sort::barrier)), IsEmpty())
      << "somebody was not run for most of a lease";
}

// One that is not heard of for longer than its lease is given up; it does not arrive anew.
TEST(torture_barrier, must_not_count_one_twice_that_was_silent_for_a_lease) {
  const auto twice = story{}
                         .passed(0, 2'000)
                         .passed(1, 10)
                         .passed(2, 11)
                         .passed(1'990, 1'999)
                         .passed(1'991, 1'998);
  EXPECT_THAT(rules(twice.as(sort::barrier)), ElementsAre("a barrier opens when all are there"));
  evidence stopped = twice.as(sort::barrier);
  stopped.incidents.push_back({"stopped", 5 * ms, 1'900 * ms, true});
  EXPECT_THAT(rules(stopped), ElementsAre("a barrier opens when all are there"));
}

TEST(torture_barrier, lets_nobody_wait_when_all_are_there) {
  const auto slow = story{}.gave_up(0, 3'000).gave_up(1, 3'000).gave_up(2, 3'000);
  EXPECT_THAT(rules(slow.as(sort::barrier)), ElementsAre("nobody waits for nothing"));
  EXPECT_THAT(rules(story{}.gave_up(0, 3'000).gave_up(1, 3'000).as(sort::barrier)), IsEmpty())
      << "they are two";
}

// ---- multi_lock -------------------------------------------------------------------------------------

TEST(torture_multi_lock, has_all_or_none) {
  const fact yes{.what = act::passed, .at = 2, .value = 3, .weight = 3};
  const fact no{.what = act::gave_up, .at = 2, .value = timed_out};
  EXPECT_THAT(rules(story{}.add(yes).add(no).as(sort::multi_lock)), IsEmpty());
  fact some = yes;
  some.value = 2;
  EXPECT_THAT(rules(story{}.add(some).as(sort::multi_lock)), ElementsAre("all or none"));
  fact rest = no;
  rest.token = 1;
  EXPECT_THAT(rules(story{}.add(rest).as(sort::multi_lock)), ElementsAre("all or none"));
}

TEST(torture_multi_lock, lets_go_of_what_it_got_on_the_way) {
  const fact got{.what = act::acquired, .at = 2 * ms, .token = 7};
  EXPECT_THAT(rules(story{}.add(got).as(sort::mutex)), ElementsAre("all or none"));
  const fact back{.what = act::releasing, .at = 3 * ms, .token = 7};
  EXPECT_THAT(rules(story{}.add(got).add(back).as(sort::mutex)), IsEmpty());
  EXPECT_THAT(rules(story{}.add(got).killed(3).as(sort::mutex)), IsEmpty());
  const fact given{.what = act::granted, .at = 3 * ms, .until = 3 * ms, .token = 7};
  EXPECT_THAT(rules(story{}.add(got).add(given).as(sort::mutex)), IsEmpty());
}

// One thread that asks for two locks at once: each has its own request and its own holder.
TEST(torture_multi_lock, excludes_others_from_each_of_its_locks) {
  const auto turn = [](std::uint16_t object, std::uint64_t token, std::int64_t from,
                       std::int64_t to) {
    return std::vector<fact>{
        {.what = act::asked, .object = object, .at = from * ms, .weight = 1},
        {.what = act::granted,
         .object = object,
         .at = (from + 1) * ms,
         .until = 100 * ms,
         .token = token,
         .weight = 1},
        {.what = act::releasing, .object = object, .at = to * ms, .token = token}};
  };
  evidence e = story{}.as(sort::mutex);
  e.objects.push_back({sort::mutex, "y"});
  for (const fact& f : turn(0, 1, 0, 10)) e.lives[0].facts.push_back(f);
  auto second = turn(1, 5, 0, 10);
  e.lives[0].facts.insert(e.lives[0].facts.begin() + 1, second[0]);  // asked for together
  e.lives[0].facts.push_back(second[1]);
  e.lives[0].facts.push_back(second[2]);
  for (fact& f : e.lives[0].facts)
    if (f.what == act::asked) f.until = never;
  EXPECT_THAT(rules(e), IsEmpty());
  life other{1, 0, turn(1, 6, 4, 9), never};
  other.facts[0].until = never;
  e.lives.push_back(other);
  EXPECT_THAT(rules(e), ElementsAre("one holder at a time"));
}

}  // namespace
}  // namespace afar::torture
