// Job control: afar run in an interactive shell on a terminal.
#include "program.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

const std::string ctrl_c = "\x03";
const std::string ctrl_z = "\x1a";

class run_terminal : public ::testing::Test {
 protected:
  // A shell with job control; its prompt tells that it reads.
  program shell() {
    auto env = engine_of(stage);
    env["PS1"] = "prompt> ";
    env["ENV"] = "";
    return program{on::terminal, {"bash", "--norc", "--noprofile", "--noediting", "-i"}, env};
  }
  // A line that is not its own echo.
  static std::string line(const std::string& text) { return "\n" + text + "\n"; }

  scene stage;
  const std::string afar_run = std::string{AFAR_BINARY} + " run ";
};

TEST_F(run_terminal, ctrl_c_reaches_the_command_alone) {
  program p{on::terminal,
            afar({"run", "x", "-c",
                  "trap 'echo caught; exit 6' INT; echo in; "
                  "while :; do sleep 0.05; done"}),
            engine_of(stage)};
  ASSERT_TRUE(p.says("in\n"));
  p.type(ctrl_c);
  EXPECT_EQ(p.ends(), 6);
  EXPECT_THAT(p.out(), HasSubstr("caught"));
}

TEST_F(run_terminal, ctrl_c_ends_a_wait_at_once) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  const hold held = x.acquire();
  program p{on::terminal, afar({"run", "x", "true"}), engine_of(stage)};
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  p.type(ctrl_c);
  EXPECT_EQ(p.ends(), 128 + SIGINT);
  EXPECT_EQ(stage.look("x").waiters.size(), 0U);
}

TEST_F(run_terminal, the_command_is_in_the_foreground_and_gives_it_back) {
  auto sh = shell();
  ASSERT_TRUE(sh.says("prompt> "));
  sh.type(afar_run + "x -c 'echo group=$$; read line; echo got=$line'; echo code=$?\n");
  ASSERT_TRUE(sh.says("\ngroup="));
  const auto group = static_cast<pid_t>(std::stol(sh.out().substr(sh.out().rfind("group=") + 6)));
  EXPECT_TRUE(eventually([&] { return sh.foreground() == group; }));
  sh.type("hello\n");
  EXPECT_TRUE(sh.says(line("got=hello") + "code=0\n")) << sh.out();
  sh.type("exit\n");
  EXPECT_EQ(sh.ends(), 0);
}

TEST_F(run_terminal, stops_and_continues_with_its_shell_and_keeps_the_lock) {
  auto sh = shell();
  ASSERT_TRUE(sh.says("prompt> "));
  // Its last third must be longer than a busy machine stalls: else it is lost, and rightly.
  sh.type(afar_run + "--lease 8s --kill-after 100ms x -c 'echo in; read line; echo got=$line'\n");
  ASSERT_TRUE(sh.says(line("in")));
  const auto before = stage.look("x").holders.at(0).token;
  sh.type(ctrl_z);
  ASSERT_TRUE(sh.says("Stopped")) << sh.out();
  const auto renewals = [&] {
    const auto seen = stage.look("x").holders;
    return seen.size() == 1 && seen[0].token == before ? seen[0].renewals.value() : 0;
  };
  const auto by_now = renewals();
  // Every third of the lease: together they take longer than the lease.
  ASSERT_TRUE(eventually([&] { return renewals() > by_now + 3; }, long_time)) << sh.out();
  sh.type("fg\n");
  sh.type("hello\n");
  EXPECT_TRUE(sh.says(line("got=hello"))) << sh.out();
  sh.type("exit\n");
  EXPECT_EQ(sh.ends(), 0);
  EXPECT_TRUE(stage.becomes("x", 0, 0));
}

TEST_F(run_terminal, a_wait_that_is_stopped_gets_no_lock_until_it_goes_on) {
  const client locks = stage.client();
  mutex x{locks, "x"};
  hold held = x.acquire();
  auto sh = shell();
  ASSERT_TRUE(sh.says("prompt> "));
  sh.type(afar_run + "x echo r''an\n");
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  sh.type(ctrl_z);
  ASSERT_TRUE(sh.says("Stopped")) << sh.out();
  EXPECT_TRUE(stage.becomes("x", 1, 0));
  held.release();
  sh.type("fg\n");
  EXPECT_TRUE(sh.says(line("ran"))) << sh.out();
  sh.type("exit\n");
  EXPECT_EQ(sh.ends(), 0);
}

TEST_F(run_terminal, a_pipeline_keeps_the_foreground_until_the_command_asks_for_it) {
  auto sh = shell();
  ASSERT_TRUE(sh.says("prompt> "));
  sh.type(afar_run + "x -c 'echo in; read line; echo got=$line' | cat\n");
  ASSERT_TRUE(sh.says(line("in")));
  sh.type("hello\n");
  ASSERT_TRUE(sh.says(line("got=hello") + "prompt> ")) << sh.out();
  sh.type(afar_run + "x -c 'echo on; while :; do sleep 0.05; done' | cat; echo en''d\n");
  ASSERT_TRUE(sh.says(line("on")));
  sh.type(ctrl_c);
  ASSERT_TRUE(stage.becomes("x", 0, 0));
  sh.type("exit\n");
  EXPECT_NE(sh.ends(), -1);
}

TEST_F(run_terminal, nobody_is_left_stopped_where_there_is_no_shell) {
  program p{on::terminal, afar({"run", "x", "-c", "echo in; read line; echo got=$line"}),
            engine_of(stage)};
  ASSERT_TRUE(p.says("in\n"));
  p.type(ctrl_z);
  p.type("hello\n");
  EXPECT_TRUE(p.says("got=hello"));
  EXPECT_EQ(p.ends(), 0);
}

}  // namespace
}  // namespace afar::test
