// How a run ends when something goes wrong: nothing of the command's group runs without the lock.
#include "core/client_state.hpp"
#include "process/actor.hpp"
#include "program.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <vector>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Three generations in one group; the youngest ones ignore what they can.
const std::string family =
    "sh -c 'trap \"\" TERM HUP INT; echo grandchild; while :; do sleep 0.05; done' & "
    "echo group=$$; wait";

class run_end : public ::testing::TestWithParam<on> {
 protected:
  std::unique_ptr<program> run(words_of words, const std::string& query = {}) {
    words.insert(words.begin(), "run");
    return std::make_unique<program>(GetParam(), afar(std::move(words)), engine_of(stage, query));
  }
  pid_t keeper_of(program& p) { return children_of(p.pid()).at(0); }
  static pid_t group_of(program& p) {
    EXPECT_TRUE(p.says("group="));
    const auto at = p.out().find("group=") + 6;
    EXPECT_TRUE(eventually([&] { return p.out().find('\n', at) != std::string::npos; }));
    return static_cast<pid_t>(std::stol(p.out().substr(at)));
  }

  void break_lock(const std::string& name) {
    const client locks = stage.client();
    const auto seen = stage.look(name);
    ASSERT_EQ(seen.holders.size(), 1U);
    spi::release_reply reply{};
    const auto failed = locks.state()->get().evict({seen.kind, seen.name}, seen.holders[0].owner,
                                                   seen.holders[0].token, reply);
    ASSERT_FALSE(failed);
    ASSERT_EQ(reply, spi::release_reply::released);
  }

  scene stage;
};

TEST_P(run_end, a_killed_front_takes_the_command_and_its_children_along) {
  auto p = run({"--kill-after", "200ms", "x", "-c", family});
  const pid_t group = group_of(*p);
  ASSERT_TRUE(p->says("grandchild"));
  ASSERT_GE(members_of_group(group).size(), 2U);
  actor next{stage};
  next.send_acquire("mutex", "x");
  ASSERT_TRUE(stage.becomes("x", 1, 1));

  p->signal(SIGKILL);
  ASSERT_TRUE(next.receive_grant());
  EXPECT_THAT(members_of_group(group), IsEmpty()) << "somebody ran while another held the lock";
}

TEST_P(run_end, a_killed_keeper_takes_them_along_too) {
  auto p = run({"x", "-c", family});
  const pid_t group = group_of(*p);
  ASSERT_TRUE(p->says("grandchild"));
  ::kill(keeper_of(*p), SIGKILL);
  EXPECT_EQ(p->ends(), 80);
  EXPECT_TRUE(eventually([&] { return members_of_group(group).empty(); }));
  EXPECT_TRUE(stage.becomes("x", 0, 0));
}

TEST_P(run_end, a_killed_front_that_waits_leaves_nothing_behind) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  const hold held = x.acquire();
  auto p = run({"x", "true"});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  const pid_t keeper = keeper_of(*p);
  p->signal(SIGKILL);
  EXPECT_TRUE(stage.becomes("x", 1, 0));
  EXPECT_TRUE(eventually([&] { return !alive(keeper); }));
}

// Nobody can renew: a third process is stopped in the middle of a transaction.
TEST_P(run_end, a_command_that_ignores_term_is_killed_before_its_lease_can_be_taken) {
  constexpr auto lease = 20s;  // has the whole margin of 2 s: longer than a busy machine stalls
  auto p = run({"--lease", "20s", "--kill-after", "1s", "x", "-c",
                "trap 'echo termed' TERM; echo group=$$; while :; do sleep 0.05; done"});
  const pid_t group = group_of(*p);
  actor blocker{stage};
  blocker.arm("embedded.acquire.before_commit:stop");
  blocker.send_acquire("mutex", "x");
  ASSERT_TRUE(blocker.stops());
  const auto held_until = boot_clock::now() + lease;  // no renewal is later than this moment

  EXPECT_TRUE(eventually([&] { return members_of_group(group).empty(); }, lease));
  EXPECT_LT(boot_clock::now(), held_until);
  EXPECT_TRUE(p->says("termed")) << "SIGTERM came first";
  blocker.resume();
  EXPECT_TRUE(blocker.receive_grant());
  EXPECT_EQ(p->ends(), 80);
  EXPECT_TRUE(p->says("the lock x is lost"));
}

// A keeper that sleeps for longer than its lease has lost it when it wakes up.
TEST_P(run_end, a_lock_that_was_overtaken_stops_the_command) {
  auto p = run({"--lease", "3s", "x", "-c", "echo group=$$; read line"});
  const pid_t group = group_of(*p);
  const pid_t keeper = keeper_of(*p);
  ::kill(keeper, SIGSTOP);
  actor next{stage};
  ASSERT_TRUE(next.acquire("mutex", "x"));
  ::kill(keeper, SIGCONT);
  EXPECT_EQ(p->ends(), 80);
  EXPECT_THAT(members_of_group(group), IsEmpty());
  EXPECT_EQ(next.ask("valid"), "1") << "the late release changed something";
}

TEST_P(run_end, a_lock_that_was_broken_by_somebody_stops_the_command) {
  auto p = run({"--lease", "3s", "x", "-c", "echo group=$$; read line"});
  const pid_t group = group_of(*p);
  break_lock("x");
  EXPECT_EQ(p->ends(), 80);
  EXPECT_THAT(members_of_group(group), IsEmpty());
}

// The pipe or the terminal of the messages is full, as with a pager or after Ctrl-S.
TEST_P(run_end, a_command_is_stopped_though_nobody_reads_why) {
  auto p =
      run({"--lease", "3s", "--kill-after", "100ms", "x", "-c",
           "trap '' TERM; echo group=$$; read line; echo fills; while :; do echo x >&2; done"});
  const pid_t group = group_of(*p);
  p->type("go\n");
  ASSERT_TRUE(p->says("fills"));
  ASSERT_TRUE(eventually([&] { return sleeps(group); })) << "it can still write";
  break_lock("x");
  EXPECT_TRUE(eventually([&] { return members_of_group(group).empty(); }));
  EXPECT_EQ(p->ends(), 80);
  EXPECT_TRUE(p->says("the lock x is lost"));
}

TEST_P(run_end, a_lock_that_was_broken_unseen_before_the_commands_end_is_told_too) {
  auto p = run({"--lease", "1h", "x", "-c", "echo group=$$; read line"});
  group_of(*p);
  break_lock("x");
  p->type("\n");
  EXPECT_EQ(p->ends(), 80);
  EXPECT_TRUE(p->says("was lost before the command ended"));
}

TEST_P(run_end, a_loss_is_only_told_if_so_wished) {
  auto p =
      run({"--lease", "3s", "--on-lost", "warn", "x", "-c", "echo group=$$; read line; exit 5"});
  group_of(*p);
  const pid_t keeper = keeper_of(*p);
  ::kill(keeper, SIGSTOP);
  actor next{stage};
  ASSERT_TRUE(next.acquire("mutex", "x"));
  ::kill(keeper, SIGCONT);
  EXPECT_TRUE(p->says("the lock x is lost"));
  p->type("\n");
  EXPECT_EQ(p->ends(), 5);
}

TEST_P(run_end, signals_reach_the_command) {
  for (const int s : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    const auto number = std::to_string(s);
    auto p = run({"x", "-c",
                  "trap 'exit 1" + number + "' " + number +
                      "; echo group=$$; while :; do sleep 0.05; done"});
    group_of(*p);
    p->signal(s);
    EXPECT_EQ(p->ends(), std::stoi("1" + number));
    EXPECT_TRUE(stage.becomes("x", 0, 0));
  }
}

TEST_P(run_end, a_signal_to_the_keeper_reaches_the_command_too) {
  auto p = run({"x", "-c", "trap 'exit 9' TERM; echo group=$$; while :; do sleep 0.05; done"});
  group_of(*p);
  ::kill(keeper_of(*p), SIGTERM);
  EXPECT_EQ(p->ends(), 9);
}

TEST_P(run_end, a_signal_ends_the_wait_at_once_and_leaves_nothing_behind) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  const hold held = x.acquire();
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    auto p = run({"x", "--", "touch", stage.path("ran")});
    ASSERT_TRUE(stage.becomes("x", 1, 1));
    p->signal(s);
    EXPECT_EQ(p->ends(), 128 + s);
    const auto seen = stage.look("x");
    EXPECT_EQ(seen.waiters.size(), 0U);
  }
  EXPECT_EQ(contents(stage.path("ran")), "");
}

TEST_P(run_end, the_lock_is_released_only_after_the_whole_group_is_gone) {
  const std::string left = stage.path("left");
  auto p =
      run({"--kill-after", "5s", "x", "-c", "(read line < " + left + ") & echo group=$$; exit 3"});
  ASSERT_TRUE(p->says("group="));  // the reader of a file that is missing ends at once
  EXPECT_EQ(p->ends(), 3);

  auto q = run({"--kill-after", "300ms", "x", "-c", family + " & sleep 0.1; exit 4"});
  const pid_t group = group_of(*q);
  ASSERT_TRUE(q->says("grandchild"));
  EXPECT_EQ(q->ends(), 4);
  EXPECT_THAT(members_of_group(group), IsEmpty());
}

TEST_P(run_end, fifty_runs_of_read_modify_write_lose_no_update) {
  const std::string file = stage.path("sum");
  write_file(file, "0");
  const std::string add = "n=$(cat " + file + "); echo $((n + 1)) > " + file;
  std::vector<std::unique_ptr<program>> all;
  all.reserve(50);
  for (int i = 0; i < 50; ++i) all.push_back(run({"sum", "-c", add}));
  for (auto& p : all) EXPECT_EQ(p->ends(), 0) << p->out() << p->err();
  EXPECT_EQ(contents(file), "50\n");
}

INSTANTIATE_TEST_SUITE_P(, run_end, ::testing::Values(on::pipes, on::terminal),
                         [](const auto& i) { return i.param == on::pipes ? "pipes" : "terminal"; });

}  // namespace
}  // namespace afar::test
