// The tables of options and exit codes of docs/cli.md, row by row, on a terminal and without one.
#include "engines/embedded/keys.hpp"
#include "process/actor.hpp"
#include "program.hpp"

#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class run_table : public ::testing::TestWithParam<on> {
 protected:
  program run(words_of words) { return program{GetParam(), afar(std::move(words)), env}; }
  int code_of(words_of words) { return run(std::move(words)).ends(); }
  // What it printed on stderr, or on the terminal.
  std::string complaint(program& p) const { return GetParam() == on::pipes ? p.err() : p.out(); }

  scene stage;
  program::environment env = engine_of(stage);
};

// ---- exit codes ---------------------------------------------------------------------------------

TEST_P(run_table, the_code_is_the_commands_own) {
  EXPECT_EQ(code_of({"run", "x", "true"}), 0);
  EXPECT_EQ(code_of({"run", "x", "--", "sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(code_of({"run", "x", "-c", "exit 42"}), 42);
}

TEST_P(run_table, the_code_is_128_and_the_signal_that_killed_the_command) {
  EXPECT_EQ(code_of({"run", "x", "-c", "kill -TERM $$"}), 128 + SIGTERM);
  EXPECT_EQ(code_of({"run", "x", "-c", "kill -KILL $$"}), 128 + SIGKILL);
}

TEST_P(run_table, the_code_is_75_if_it_is_held) {
  const client locks = stage.client({.label = "the other one"});
  mutex x{locks, "x"};
  const hold held = x.acquire();
  auto p = run({"run", "-n", "x", "--", "touch", stage.path("ran")});
  EXPECT_EQ(p.ends(), 75);
  EXPECT_EQ(contents(stage.path("ran")), "");
  EXPECT_THAT(complaint(p), HasSubstr("afar: x is held by "));
  EXPECT_THAT(complaint(p), HasSubstr(":" + std::to_string(::getpid()) + " ("));
  EXPECT_THAT(complaint(p), HasSubstr("the other one) for "));
  EXPECT_THAT(complaint(p), HasSubstr("; lease ends in 2"));
  EXPECT_THAT(complaint(p), HasSubstr("; token " + std::to_string(held.token()) + "; 0 waiting"));
}

TEST_P(run_table, the_code_is_69_if_the_engine_is_away_and_nothing_runs) {
  env["AFAR_URL"] = "file:///proc/nowhere";
  auto p = run({"run", "x", "--", "touch", stage.path("ran")});
  EXPECT_EQ(p.ends(), 69);
  EXPECT_FALSE(std::filesystem::exists(stage.path("ran")));
  EXPECT_THAT(complaint(p), HasSubstr("afar: "));
}

TEST_P(run_table, the_code_is_64_for_wrong_use) {
  EXPECT_EQ(code_of({"run"}), 64);
  EXPECT_EQ(code_of({"run", "x"}), 64);
  EXPECT_EQ(code_of({"run", "-w", "soon", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-n", "-w", "1s", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-s", "-x", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--permits", "2", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--permits", "3", "--limit", "2", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--lease", "1ms", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--lease", "2s", "--kill-after", "2s", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--on-lost", "cry", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-E", "256", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", "-c", "true", "x", "true"}), 64);
  EXPECT_EQ(code_of({"run", std::string(1'025, 'x'), "true"}), 64);
  EXPECT_EQ(code_of({"no-such-verb"}), 64);
}

TEST_P(run_table, a_command_that_looks_like_an_option_is_refused) {
  EXPECT_EQ(code_of({"run", "x", "--nonblocking", "true"}), 64);
  EXPECT_EQ(code_of({"run", "x", "--", "-n", "true"}), 64);
  EXPECT_EQ(code_of({"run", "--nonblocking", "x", "true"}), 64);
}

TEST_P(run_table, the_code_is_78_for_a_wrong_configuration) {
  env["AFAR_URL"] = "nosuch://x";
  EXPECT_EQ(code_of({"run", "x", "true"}), 78);
  env["AFAR_URL"] = "file:///x?lease=never";
  EXPECT_EQ(code_of({"run", "x", "true"}), 78);
  EXPECT_EQ(code_of({"run", "--url-file", stage.path("none"), "x", "true"}), 78);
}

TEST_P(run_table, the_code_is_126_or_127_if_the_command_cannot_be_started) {
  write_file(stage.path("text"), "no program");
  EXPECT_EQ(code_of({"run", "x", stage.path("text")}), 126);
  EXPECT_EQ(code_of({"run", "x", "no-such-program"}), 127);
  EXPECT_EQ(code_of({"run", "x", stage.path("none")}), 127);
  EXPECT_TRUE(stage.becomes("x", 0, 0)) << "and the lock is free again";
}

// ---- options ------------------------------------------------------------------------------------

TEST_P(run_table, waits_for_ever_unless_told_otherwise) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  hold held = x.acquire();
  auto p = run({"run", "x", "echo", "ran"});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  EXPECT_TRUE(p.running());
  held.release();
  EXPECT_EQ(p.ends(), 0);
  EXPECT_THAT(p.out(), HasSubstr("ran"));
}

TEST_P(run_table, waits_as_long_as_it_is_told) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  hold held = x.acquire();
  EXPECT_EQ(code_of({"run", "--nonblock", "x", "true"}), 75);
  EXPECT_EQ(code_of({"run", "-w", "0", "x", "true"}), 75);
  EXPECT_EQ(code_of({"run", "-w0", "x", "true"}), 75);
  int code = 0;
  EXPECT_GE(time_of([&] { code = code_of({"run", "--wait", "300ms", "x", "true"}); }), 300ms);
  EXPECT_EQ(code, 75);
  auto p = run({"run", "-w", "1h", "x", "true"});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  held.release();
  EXPECT_EQ(p.ends(), 0);
}

TEST_P(run_table, shared_holders_are_together_and_exclusive_ones_alone) {
  auto reader = run({"run", "-s", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(reader.says("in"));
  EXPECT_EQ(code_of({"run", "-n", "-s", "x", "true"}), 0);
  EXPECT_EQ(code_of({"run", "-n", "-x", "x", "true"}), 75);
  reader.type("\n");
  EXPECT_EQ(reader.ends(), 0);
  auto writer = run({"run", "-x", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(writer.says("in"));
  EXPECT_EQ(code_of({"run", "-n", "-s", "x", "true"}), 75);
  EXPECT_EQ(code_of({"run", "-n", "-x", "x", "true"}), 75);
  writer.type("\n");
  EXPECT_EQ(writer.ends(), 0);
}

// As with flock(1): no option is -x. It is the mutex of C++ programs as well.
TEST_P(run_table, without_an_option_it_is_exclusive_beside_shared_ones) {
  auto reader = run({"run", "-s", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(reader.says("in"));
  EXPECT_EQ(code_of({"run", "-n", "x", "true"}), 75);
  auto writer = run({"run", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  EXPECT_EQ(code_of({"run", "-n", "-s", "x", "true"}), 75) << "past a writer that waits";
  reader.type("\n");
  EXPECT_EQ(reader.ends(), 0);
  ASSERT_TRUE(writer.says("in"));
  EXPECT_EQ(code_of({"run", "-n", "-s", "x", "true"}), 75);
  EXPECT_EQ(code_of({"run", "-n", "-x", "x", "true"}), 75);
  EXPECT_FALSE(mutex(stage.client(), "x").try_acquire());
  writer.type("\n");
  EXPECT_EQ(writer.ends(), 0);
}

TEST_P(run_table, a_name_that_is_something_else_says_how_to_take_it) {
  const auto refused = [&](const words_of& options) {
    words_of words{"run", "-n", "x", "true"};
    words.insert(words.begin() + 1, options.begin(), options.end());
    auto p = run(words);
    EXPECT_EQ(p.ends(), 64);
    return complaint(p);
  };
  const client locks = stage.client();
  {
    const hold held = fair_mutex(locks, "x").acquire();
    EXPECT_THAT(refused({}), HasSubstr("is a fair_mutex, not a mutex; take it with --fair"));
    EXPECT_THAT(refused({"-s"}), HasSubstr("; take it with --fair"));
  }
  {
    const hold held = mutex(locks, "x").acquire();
    EXPECT_THAT(refused({"--fair"}), HasSubstr("; take it without -s, -x, --fair and --permits"));
  }
  {
    const hold held = shared_mutex(locks, "x").acquire();
    EXPECT_THAT(refused({"--fair"}), HasSubstr("; take it with -x or -s"));
  }
  {
    const hold held = leased_semaphore(locks, "x", 3).acquire();
    EXPECT_THAT(refused({}), HasSubstr("; take it with --permits N --limit 3"));
  }
  counter{locks, "x"}.store(1);
  EXPECT_THAT(refused({}), HasSubstr("is a counter, not a mutex; use another name"));
}

TEST_P(run_table, permits_are_counted) {
  auto two = run({"run", "--permits", "2", "--limit", "3", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(two.says("in"));
  EXPECT_EQ(code_of({"run", "-n", "--permits", "1", "--limit", "3", "x", "true"}), 0);
  auto p = run({"run", "-n", "--permits", "2", "--limit", "3", "x", "true"});
  EXPECT_EQ(p.ends(), 75);
  EXPECT_THAT(complaint(p), HasSubstr("2 of 3 permits are out"));
  EXPECT_EQ(code_of({"run", "-n", "--permits", "1", "--limit", "4", "x", "true"}), 64);
  two.type("\n");
  EXPECT_EQ(two.ends(), 0);
}

TEST_P(run_table, fair_is_first_come_first_served) {
  const client locks = stage.client();
  fair_mutex x{locks, "x"};
  hold held = x.acquire();
  const std::string log = stage.path("log");
  auto first = run({"run", "--fair", "x", "-c", "echo first >> " + log});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  auto second = run({"run", "--fair", "x", "-c", "echo second >> " + log});
  ASSERT_TRUE(stage.becomes("x", 1, 2));
  held.release();
  EXPECT_EQ(first.ends(), 0);
  EXPECT_EQ(second.ends(), 0);
  EXPECT_EQ(contents(log), "first\nsecond\n");
}

TEST_P(run_table, lease_and_label_are_seen_by_others) {
  auto p =
      run({"run", "--lease", "1h30m", "--label", "blue team", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(p.says("in"));
  const auto seen = stage.look("x");
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_GT(seen.holders[0].lease_left, 89min);
  EXPECT_LE(seen.holders[0].lease_left, 90min);
  const auto& note = seen.holders[0].note;
  EXPECT_THAT(note, HasSubstr("label=blue team\n"));
  EXPECT_THAT(note, HasSubstr("command=sh -c\n")) << "arguments may be secrets";
  EXPECT_THAT(note, HasSubstr("user="));
  EXPECT_THAT(note, HasSubstr("host="));
  EXPECT_THAT(note, HasSubstr("pid="));
  p.type("\n");
  EXPECT_EQ(p.ends(), 0);
}

TEST_P(run_table, at_least_keeps_the_lock_after_a_short_command) {
  int code = -1;
  EXPECT_GE(time_of([&] { code = code_of({"run", "--at-least", "400ms", "x", "-c", "exit 3"}); }),
            400ms);
  EXPECT_EQ(code, 3);
  auto p = run({"run", "--at-least", "1h", "x", "-c", "echo ends; exit 4"});
  ASSERT_TRUE(p.says("ends"));
  // The command has ended when its keeper has no child left.
  ASSERT_TRUE(eventually([&] {
    const auto keeper = children_of(p.pid());
    return keeper.size() == 1 && !stage.look("x").holders.empty() && children_of(keeper[0]).empty();
  }));
  EXPECT_EQ(code_of({"run", "-n", "x", "true"}), 75);
  p.signal(SIGTERM);
  EXPECT_EQ(p.ends(), 4) << "a signal cuts it short";
  EXPECT_TRUE(stage.becomes("x", 0, 0));
}

// The command may have ended, unseen yet, when the signal comes: then nobody else hears it.
TEST_P(run_table, at_least_is_cut_short_by_a_signal_that_came_before) {
  auto p = run({"run", "--at-least", "1h", "x", "-c", "echo in; read line"});
  ASSERT_TRUE(p.says("in\n"));
  p.signal(SIGTERM);
  EXPECT_EQ(p.ends(), 128 + SIGTERM);
}

// A process that is stopped, or has no CPU for a while, in the middle of a step.
TEST_P(run_table, a_late_engine_is_waited_for) {
  std::string neighbour = "y";  // in the shard of x, and so behind the same gate
  const auto shard = [](const std::string& name) { return engines::embedded::site{name}.shard(); };
  while (shard(neighbour) != shard("x")) neighbour += 'y';
  actor blocker{stage};
  blocker.arm("embedded.acquire.before_commit:stop");
  blocker.send_acquire("mutex", neighbour);
  ASSERT_TRUE(blocker.stops());
  auto waits = run({"run", "x", "-c", "echo ran"});
  auto tries = run({"run", "-n", "-s", "x", "-c", "echo ran"});
  hold_still(500ms);  // ten times as long as a try waits for a step
  EXPECT_TRUE(waits.running()) << waits.out() << waits.err();
  EXPECT_TRUE(tries.running()) << tries.out() << tries.err();
  blocker.resume();
  EXPECT_EQ(waits.ends(), 0) << waits.out() << waits.err();
  const int code = tries.ends();
  EXPECT_TRUE(code == 0 || code == 75) << code << tries.out() << tries.err();
}

TEST_P(run_table, another_code_when_it_was_not_acquired) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  const hold held = x.acquire();
  EXPECT_EQ(code_of({"run", "-n", "-E", "0", "x", "true"}), 0);
  EXPECT_EQ(code_of({"run", "-w", "10ms", "-E", "99", "x", "true"}), 99);
}

TEST_P(run_table, the_environment_says_what_is_held) {
  auto p =
      run({"run", "job/1", "-c", "echo name=$AFAR_NAME token=$AFAR_TOKEN by=$AFAR_HOLDER; read x"});
  ASSERT_TRUE(p.says("by="));
  const auto seen = stage.look("job/1");
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_THAT(p.out(), HasSubstr("name=job/1 token=" + std::to_string(seen.holders[0].token)));
  EXPECT_THAT(p.out(), HasSubstr(":" + std::to_string(children_of(p.pid()).at(0)) + "\n"));
  p.type("\n");
  EXPECT_EQ(p.ends(), 0);
}

TEST_P(run_table, nested_runs_have_each_their_own_token) {
  const std::string inner =
      std::string{AFAR_BINARY} + " run in -c 'echo inner $AFAR_NAME $AFAR_TOKEN; read line'";
  auto p =
      run({"run", "out", "-c",
           "echo outer $AFAR_NAME $AFAR_TOKEN; " + inner + "; echo again $AFAR_NAME $AFAR_TOKEN"});
  ASSERT_TRUE(p.says("inner in "));
  const auto outer = stage.look("out");
  const auto nested = stage.look("in");
  ASSERT_EQ(outer.holders.size(), 1U);
  ASSERT_EQ(nested.holders.size(), 1U);
  p.type("\n");
  ASSERT_EQ(p.ends(), 0);
  const auto token_of = [](const spi::entry& e) { return std::to_string(e.holders[0].token); };
  EXPECT_NE(token_of(outer), token_of(nested));
  EXPECT_THAT(p.out(), HasSubstr("outer out " + token_of(outer) + "\n"));
  EXPECT_THAT(p.out(), HasSubstr("inner in " + token_of(nested) + "\n"));
  EXPECT_THAT(p.out(), HasSubstr("again out " + token_of(outer) + "\n"));
}

TEST_P(run_table, stdin_is_the_commands) {
  auto p = run({"run", "x", "-c", "read line; echo \"[$line]\""});
  p.type("hello\n");
  EXPECT_EQ(p.ends(), 0);
  EXPECT_THAT(p.out(), HasSubstr("[hello]"));
}

TEST_P(run_table, files_of_the_caller_are_inherited_and_those_of_the_engine_are_not) {
  write_file(stage.path("text"), "from the caller");
  const std::string line = std::string{AFAR_BINARY} +
                           " run x -- sh -c 'cat <&7; ls -l /proc/self/fd' 7< " +
                           stage.path("text");
  program p{GetParam(), {"sh", "-c", line}, env};
  ASSERT_EQ(p.ends(), 0);
  EXPECT_THAT(p.out(), HasSubstr("from the caller"));
  EXPECT_THAT(p.out(), ::testing::Not(HasSubstr("/engine")));
  EXPECT_THAT(p.out(), ::testing::Not(HasSubstr("socket:")));
  EXPECT_THAT(p.out(), ::testing::Not(HasSubstr("signalfd")));
}

INSTANTIATE_TEST_SUITE_P(, run_table, ::testing::Values(on::pipes, on::terminal),
                         [](const auto& i) { return i.param == on::pipes ? "pipes" : "terminal"; });

}  // namespace
}  // namespace afar::test
