// The checker must see what it is there for: planted violations are found, and what only looks like
// one is not.
#include "torture/check.hpp"
#include "torture/process.hpp"
#include "torture/run_delay.hpp"
#include "torture/stall_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace afar::torture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t ms = 1'000'000;

// One thread's hold of object 0; times in milliseconds.
struct turn {
  std::int64_t asked, granted, until, released;
  std::uint64_t token;
  std::uint32_t weight = 1;
};

life process(std::uint32_t worker, const std::vector<turn>& turns, std::int64_t death = never) {
  life l{worker, 0, {}, death == never ? never : death * ms};
  std::uint16_t thread = 0;
  for (const turn& t : turns) {
    l.facts.push_back({.what = act::asked,
                       .thread = thread,
                       .at = t.asked * ms,
                       .until = (t.asked + 10'000) * ms,
                       .weight = t.weight});
    l.facts.push_back({.what = act::granted,
                       .thread = thread,
                       .at = t.granted * ms,
                       .until = t.until * ms,
                       .token = t.token,
                       .weight = t.weight});
    l.facts.push_back(
        {.what = act::done, .thread = thread, .at = t.released * ms, .token = t.token});
    l.facts.push_back({.what = act::releasing, .at = t.released * ms, .token = t.token});
    ++thread;
  }
  return l;
}

evidence with(std::vector<life> lives, sort s = sort::mutex) {
  evidence e;
  e.objects = {{s, "x"}};
  e.lives = std::move(lives);
  e.crash_bound = 2'000 * ms;
  return e;
}

std::vector<std::string> rules(const evidence& e) {
  std::vector<std::string> out;
  for (const violation& v : check(e)) out.push_back(v.rule);
  return out;
}

TEST(torture_check, accepts_turns_that_follow_each_other) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 20, 1}}), process(1, {{5, 20, 110, 30, 2}})})),
              IsEmpty());
}

TEST(torture_check, finds_two_holders_at_once) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 30, 1}}), process(1, {{5, 20, 110, 40, 2}})})),
              ElementsAre("one holder at a time"));
}

TEST(torture_check, ends_a_belief_with_its_lease_its_process_and_the_news_of_its_loss) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 40, 90, 1}}), process(1, {{5, 40, 110, 50, 2}})})),
              IsEmpty());
  EXPECT_THAT(
      rules(with({process(0, {{0, 10, 100, 90, 1}}, 30), process(1, {{5, 40, 110, 50, 2}})})),
      IsEmpty());
  life told = process(0, {{0, 10, 100, 90, 1}});
  told.facts.push_back({.what = act::told_lost, .at = 30 * ms, .token = 1});
  EXPECT_THAT(rules(with({told, process(1, {{5, 40, 110, 50, 2}})})), IsEmpty());
}

TEST(torture_check, takes_a_holder_at_its_word_that_it_is_valid) {
  life sure = process(0, {{0, 10, 40, 90, 1}});
  sure.facts.push_back({.what = act::valid, .at = 60 * ms, .until = 70 * ms, .token = 1});
  EXPECT_THAT(rules(with({sure, process(1, {{5, 50, 110, 55, 2}})})),
              ElementsAre("one holder at a time"));
}

TEST(torture_check, believes_the_library_when_it_lets_go) {
  life slow = process(0, {{0, 10, 100, 20, 1}});
  slow.facts.back().at = 30 * ms;  // `done` at 20, the request leaves at 30
  EXPECT_THAT(rules(with({slow, process(1, {{5, 25, 110, 28, 2}})})),
              ElementsAre("one holder at a time"));
}

TEST(torture_check, lets_readers_share_and_no_writer_among_them) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 30, 1}}), process(1, {{5, 20, 110, 40, 2}})},
                         sort::shared_mutex)),
              IsEmpty());
  EXPECT_THAT(
      rules(with({process(0, {{0, 10, 100, 30, 1}}), process(1, {{5, 20, 110, 40, 2, alone}})},
                 sort::shared_mutex)),
      ElementsAre("one holder at a time"));
}

TEST(torture_check, counts_permits) {
  EXPECT_THAT(
      rules(with({process(0, {{0, 10, 100, 30, 1, 2}}), process(1, {{5, 20, 110, 40, 2, 1}})},
                 sort::leased_semaphore)),
      IsEmpty());
  EXPECT_THAT(
      rules(with({process(0, {{0, 10, 100, 30, 1, 2}}), process(1, {{5, 20, 110, 40, 2, 2}})},
                 sort::leased_semaphore)),
      ElementsAre("one holder at a time"));
}

TEST(torture_check, finds_a_token_that_went_back) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 20, 7}}), process(1, {{25, 30, 110, 40, 6}})})),
              ElementsAre("tokens grow"));
}

TEST(torture_check, finds_a_token_that_two_had) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 20, 7}}), process(1, {{5, 30, 110, 40, 7}})})),
              ElementsAre("tokens grow"));
}

TEST(torture_check, lets_requests_that_were_under_way_together_have_tokens_in_any_order) {
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 20, 7}}), process(1, {{5, 30, 110, 40, 6}})})),
              IsEmpty());
}

TEST(torture_check, finds_one_that_overtook_in_a_fair_line) {
  const std::vector<life> lives{process(0, {{0, 10, 9'000, 5'000, 1}}),
                                process(1, {{20, 5'100, 9'000, 5'200, 3}}),
                                process(2, {{3'000, 5'000, 9'000, 5'050, 2}})};
  EXPECT_THAT(rules(with(lives, sort::fair_mutex)), ElementsAre("first come, first served"));
  EXPECT_THAT(rules(with(lives, sort::mutex)), IsEmpty());
  evidence disturbed = with(lives, sort::fair_mutex);
  disturbed.incidents.push_back({"kill a waiter", 100 * ms, 100 * ms, true});
  EXPECT_THAT(rules(disturbed), IsEmpty());
}

TEST(torture_check, finds_a_wake_up_that_was_lost) {
  const std::vector<life> lives{process(0, {{0, 10, 100, 20, 1}}),
                                process(1, {{15, 2'500, 9'000, 2'600, 2}})};
  EXPECT_THAT(rules(with(lives)), ElementsAre("nobody waits for nothing"));
  evidence excused = with(lives);
  excused.incidents.push_back({"kill a holder", 12 * ms, 12 * ms, true});
  EXPECT_THAT(rules(excused), IsEmpty()) << "the lease of the dead one is waited for";
  EXPECT_THAT(rules(with({process(0, {{0, 10, 100, 20, 1}}),
                          process(1, {{2'490, 2'500, 9'000, 2'600, 2}})})),
              IsEmpty())
      << "nobody wanted it";
}

TEST(torture_check, does_not_blame_a_lock_for_a_waiter_that_the_machine_did_not_run) {
  const auto with_stall = [](std::uint32_t worker, std::int64_t from, std::int64_t to) {
    std::vector<life> lives{process(0, {{0, 10, 100, 20, 1}}),
                            process(1, {{15, 2'500, 9'000, 2'600, 2}}), process(2, {})};
    lives[worker].facts.push_back({.what = act::stalled, .at = to * ms, .until = from * ms});
    return rules(with(lives));
  };
  EXPECT_THAT(with_stall(1, 1'000, 1'490), IsEmpty());
  EXPECT_THAT(with_stall(1, 1'000, 1'470), ElementsAre("nobody waits for nothing"))
      << "2.01 s of it it could run";
  EXPECT_THAT(with_stall(2, 1'000, 1'490), ElementsAre("nobody waits for nothing"))
      << "that one did not want it";
  EXPECT_THAT(with_stall(1, 2'510, 3'000), ElementsAre("nobody waits for nothing")) << "later";
}

TEST(torture_check, does_not_blame_a_lock_for_a_release_that_the_machine_did_not_run) {
  const auto with_stall = [](std::int64_t from, std::int64_t to, std::int64_t answered) {
    std::vector<life> lives{process(0, {{0, 10, 100, 20, 1}}),
                            process(1, {{15, 2'500, 9'000, 2'600, 2}})};
    lives[0].facts.push_back({.what = act::released, .at = answered * ms, .token = 1});
    lives[0].facts.push_back({.what = act::stalled, .at = to * ms, .until = from * ms});
    return rules(with(lives));
  };
  EXPECT_THAT(with_stall(15, 510, 520), IsEmpty()) << "its request left after that";
  EXPECT_THAT(with_stall(15, 490, 520), ElementsAre("nobody waits for nothing")) << "2.01 s";
  EXPECT_THAT(with_stall(15, 510, 30), ElementsAre("nobody waits for nothing"))
      << "it was answered before";
  EXPECT_THAT(with_stall(530, 1'030, 520), ElementsAre("nobody waits for nothing")) << "later";
}

// Two locks, and one that wants both from 15 ms to 2.6 s; the first is got by another after 2.5 s.
std::vector<life> two_wanted_together() {
  life both = process(2, {});
  both.facts = {{.what = act::asked, .object = 0, .at = 15 * ms, .until = never, .weight = 1},
                {.what = act::asked, .object = 1, .at = 15 * ms, .until = never, .weight = 1},
                {.what = act::asked, .object = 2, .at = 15 * ms, .until = 2'600 * ms, .weight = 2},
                {.what = act::gave_up, .object = 0, .at = 2'600 * ms},
                {.what = act::gave_up, .object = 1, .at = 2'600 * ms},
                {.what = act::gave_up, .object = 2, .at = 2'600 * ms}};
  return {process(0, {{0, 10, 100, 20, 1}}), process(1, {{2'490, 2'500, 9'000, 2'600, 2}}), both};
}

evidence of_two_locks(std::vector<life> lives) {
  evidence e = with(std::move(lives));
  e.objects = {{sort::mutex, "x"}, {sort::mutex, "y"}, {sort::multi_lock, "both"}};
  return e;
}

TEST(torture_check, does_not_blame_a_lock_that_is_wanted_with_another_which_somebody_has) {
  EXPECT_THAT(rules(of_two_locks(two_wanted_together())), ElementsAre("nobody waits for nothing"));
  auto lives = two_wanted_together();
  lives.push_back(process(3, {{0, 5, 9'000, 2'300, 1}}));
  for (fact& f : lives.back().facts) f.object = 1;
  EXPECT_THAT(rules(of_two_locks(lives)), IsEmpty()) << "it waited for the other one";
  lives.back().worker = 2;
  lives.back().facts.insert(lives.back().facts.end(), lives[2].facts.begin(), lives[2].facts.end());
  lives.erase(lives.begin() + 2);
  EXPECT_THAT(rules(of_two_locks(lives)), ElementsAre("nobody waits for nothing"))
      << "it had the other one itself";
}

TEST(torture_check, does_not_call_free_what_one_has_that_wants_several) {
  const std::vector<life> lives{process(0, {{0, 10, 100, 20, 1}}),
                                process(1, {{15, 2'500, 9'000, 2'600, 3}}), process(2, {})};
  EXPECT_THAT(rules(with(lives)), ElementsAre("nobody waits for nothing"));
  auto on_the_way = lives;
  on_the_way[2].facts = {{.what = act::acquired, .at = 100 * ms, .token = 2},
                         {.what = act::releasing, .at = 1'900 * ms, .token = 2}};
  EXPECT_THAT(rules(with(on_the_way)), IsEmpty());
  on_the_way[2].facts.back().at = 400 * ms;
  EXPECT_THAT(rules(with(on_the_way)), ElementsAre("nobody waits for nothing")) << "for 2.1 s";
}

TEST(torture_check, finds_a_call_that_came_back_late) {
  life late = process(0, {});
  late.facts = {{.what = act::asked, .at = 0, .until = 100 * ms},
                {.what = act::gave_up, .at = 250 * ms}};
  EXPECT_THAT(rules(with({late})), ElementsAre("deadlines hold"));
  late.facts.insert(late.facts.begin(), {.what = act::stalled, .at = 200 * ms, .until = 90 * ms});
  EXPECT_THAT(rules(with({late})), IsEmpty()) << "it did not run";
}

TEST(torture_check, does_not_blame_a_call_whose_thread_the_machine_did_not_run) {
  life late = process(0, {});
  late.facts = {{.what = act::asked, .at = 0, .until = 100 * ms, .delayed = 7'000 * ms},
                {.what = act::gave_up, .at = 250 * ms, .delayed = 7'060 * ms}};
  EXPECT_THAT(rules(with({late})), IsEmpty());
  late.facts.back().delayed = 7'040 * ms;
  EXPECT_THAT(rules(with({late})), ElementsAre("deadlines hold")) << "110 ms of it are its own";
}

// Threads that want to run, twice as many as the machine has: the time that each is ready and does not run grows.
class busy_machine {
 public:
  busy_machine() {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    threads_.reserve(2 * std::size_t{cores});
    for (unsigned i = 0; i < 2 * cores; ++i)
      threads_.emplace_back([](const std::stop_token& enough) {
        while (!enough.stop_requested()) {
        }
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

TEST(run_delay, counts_the_time_that_a_thread_is_ready_and_not_run) {
  const busy_machine others;
  std::jthread{[&] {
    const run_delay mine;
    const auto before = mine.so_far();
    const auto end = now() + 20'000 * ms;
    while (mine.so_far() < before + 20 * ms && now() < end) {
    }
    EXPECT_GE(mine.so_far(), before + 20 * ms);
  }}.join();
}

// One of these threads is that of a library: it is not the one that notes.
TEST(stall_watch, notes_that_a_thread_of_the_process_is_ready_and_not_run) {
  const temporary_folder folder{"afar-torture-test"};
  const recorder record{folder.path() + "/record"};
  const busy_machine others;
  stall_watch stalls{record};
  {
    const std::jthread watcher{[&](const std::stop_token& stop) { stalls.watch(stop); }};
    const auto lost = [&] {
      std::int64_t sum = 0;
      for (const fact& f : record.facts())
        if (f.what == act::stalled) sum += f.at - f.until;
      return sum;
    };
    EXPECT_TRUE(eventually(std::chrono::seconds{20}, [&] { return lost() > 20 * ms; }));
  }
}

TEST(torture_check, finds_a_stale_write_that_went_through) {
  evidence e = with({});
  e.writes = {{5, 0}, {7, 0}, {6, 1}};
  EXPECT_THAT(rules(e), IsEmpty());
  e.writes.push_back({6, 0});
  EXPECT_THAT(rules(e), ElementsAre("no stale write"));
}

life adds(std::vector<std::int64_t> before, int unknown = 0) {
  life l;
  std::int64_t t = 0;
  for (const std::int64_t b : before) {
    l.facts.push_back({.what = act::changing, .at = ++t});
    l.facts.push_back({.what = act::changed, .at = ++t, .value = b});
  }
  for (; unknown > 0; --unknown) {
    l.facts.push_back({.what = act::changing, .at = ++t});
    l.facts.push_back({.what = act::unknown, .at = ++t});
  }
  return l;
}

TEST(torture_check, finds_an_addition_that_counted_twice_or_not_at_all) {
  evidence e = with({adds({0, 1, 2}, 1)}, sort::counter);
  e.final_value[0] = 4;
  EXPECT_THAT(rules(e), IsEmpty());
  e.final_value[0] = 3;
  EXPECT_THAT(rules(e), IsEmpty()) << "what may have happened need not";
  e.final_value[0] = 5;
  EXPECT_THAT(rules(e), ElementsAre("changes count once"));
  e.final_value[0] = 2;
  EXPECT_THAT(rules(e), ElementsAre("changes count once"));
}

// No two saw the same, nothing went back, and the sum is right; but what was seen had not begun.
TEST(torture_check, finds_a_value_that_no_order_explains) {
  evidence e = with({adds({0, 1, 3}, 1)}, sort::counter);
  e.final_value[0] = 4;
  EXPECT_THAT(rules(e), ElementsAre("one order explains it"));
  searched how_much;
  e = with({adds({0, 1, 2}, 1)}, sort::counter);
  EXPECT_THAT(check(e, &how_much), ::testing::SizeIs(1)) << "nothing at the end";
  e.final_value[0] = 4;
  EXPECT_THAT(check(e, &how_much), IsEmpty());
  EXPECT_EQ(how_much.operations, 5U) << "four and the last look";
  EXPECT_EQ(how_much.histories, 1U);
}

TEST(torture_check, finds_a_value_that_went_back_or_was_seen_twice) {
  evidence e = with({adds({0, 2, 1})}, sort::counter);
  e.final_value[0] = 3;
  EXPECT_THAT(rules(e), ElementsAre("changes count once"));
  e = with({adds({0}), adds({0})}, sort::counter);
  e.final_value[0] = 2;
  EXPECT_THAT(rules(e), ElementsAre("changes count once"));
}

TEST(torture_check, finds_units_that_were_sold_twice_or_lost) {
  evidence e = with({adds({1, 1})}, sort::stock);
  e.final_value[0] = e.sold[0] = 2;
  EXPECT_THAT(rules(e), IsEmpty());
  e.final_value[0] = 3;
  EXPECT_THAT(rules(e), ElementsAre("changes count once"));
  e.final_value[0] = e.sold[0] = 1;
  EXPECT_THAT(rules(e), ElementsAre("changes count once"));
}

TEST(torture_check, sets_apart_what_an_engine_that_forgot_is_not_covered_for) {
  evidence e = with({process(0, {{0, 10, 900, 800, 2}}), process(1, {{405, 420, 910, 840, 3}}),
                     process(2, {{900, 950, 999, 960, 1}})});
  e.incidents.push_back({"fail over", 300 * ms, 400 * ms, true, true});
  findings all = check(e);
  const findings outside = take_outside(e, all);
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_EQ(outside[0].rule, "one holder at a time");
  ASSERT_EQ(all.size(), 1U) << "tokens hold also then";
  EXPECT_EQ(all[0].rule, "tokens grow");
}

}  // namespace
}  // namespace afar::torture
