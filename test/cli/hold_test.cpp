// afar hold: a coprocess for any language.
#include "verbs_fixture.hpp"

#include <csignal>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class holds : public verbs {};

TEST_F(holds, last_until_standard_input_closes) {
  auto p = start({"hold", "x"});
  const auto token = token_of(p);
  EXPECT_EQ(inspect(locks, "x")->holders.front().token, token);
  EXPECT_TRUE(p.running());
  p.close_stdin();
  EXPECT_EQ(p.ends(), 0);
  EXPECT_FALSE(inspect(locks, "x"));
}

TEST_F(holds, say_their_token_as_json) {
  auto p = start({"hold", "--json", "--label", "batch", "x"});
  ASSERT_TRUE(p.says("\n"));
  const auto j = nlohmann::json::parse(p.out());
  EXPECT_EQ(j.at("name"), "x");
  EXPECT_EQ(inspect(locks, "x")->holders.front().token, j.at("token"));
  EXPECT_EQ(inspect(locks, "x")->holders.front().label, "batch");
}

TEST_F(holds, say_who_is_in_the_way) {
  const hold mine = mutex(locks, "x").acquire();
  const auto a = run({"hold", "-n", "x"});
  EXPECT_EQ(a.code, 75);
  EXPECT_THAT(a.err, HasSubstr("afar: x is held by "));
  auto p = start({"hold", "-w", "50ms", "x"});
  EXPECT_EQ(p.ends(), 75);
  EXPECT_EQ(p.out(), "");
}

TEST_F(holds, wait_and_then_hold) {
  hold mine = mutex(locks, "x").acquire();
  auto p = start({"hold", "x"});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  const auto first = mine.token();
  mine.release();
  EXPECT_GT(token_of(p), first);
}

TEST_F(holds, give_up_waiting_when_the_master_is_gone) {
  const hold mine = mutex(locks, "x").acquire();
  auto p = start({"hold", "x"});
  ASSERT_TRUE(stage.becomes("x", 1, 1));
  p.close_stdin();
  EXPECT_EQ(p.ends(), 75);
  EXPECT_TRUE(stage.becomes("x", 1, 0));
}

TEST_F(holds, let_go_on_a_signal) {
  auto p = start({"hold", "x"});
  token_of(p);
  p.signal(SIGTERM);
  EXPECT_EQ(p.ends(), 128 + SIGTERM);
  EXPECT_FALSE(inspect(locks, "x"));
}

TEST_F(holds, end_with_80_when_they_are_lost) {
  auto p = start({"hold", "--lease", "3s", "x"});
  const auto token = token_of(p);
  EXPECT_TRUE(evict(locks, "x", token));
  EXPECT_EQ(p.ends(), 80);
  EXPECT_THAT(p.err(), HasSubstr("x was lost (evicted); token " + std::to_string(token)));
}

TEST_F(holds, go_together_as_readers) {
  auto a = start({"hold", "-s", "x"});
  auto b = start({"hold", "-s", "x"});
  EXPECT_NE(token_of(a), token_of(b));
  EXPECT_EQ(inspect(locks, "x")->holders.size(), 2U);
  EXPECT_EQ(run({"hold", "-n", "x"}).code, 75);
  EXPECT_EQ(run({"hold", "-n", "-x", "x"}).code, 75);
  EXPECT_EQ(run({"hold", "-n", "-x", "-s", "x"}).code, 64);
}

// Ten lines of shell, as docs/cli.md shows them.
TEST_F(holds, serve_a_shell_script) {
  write_file(stage.path("job.sh"),
             "coproc LOCK { exec \"$AFAR\" hold counter; }\n"
             "read -r token <&\"${LOCK[0]}\" || exit 75\n"
             "lock_pid=$LOCK_PID\n"
             "n=$(cat \"$FILE\")\n"
             "echo $((n + 1)) >\"$FILE\"\n"
             "eval \"exec ${LOCK[1]}>&-\"\n"
             "wait \"$lock_pid\"\n");
  write_file(stage.path("file"), "0\n");
  auto surroundings = env;
  surroundings["AFAR"] = AFAR_BINARY;
  surroundings["FILE"] = stage.path("file");
  program p{on::pipes,
            {"/bin/bash", "-c",
             "for i in 1 2 3 4 5 6 7 8; do bash " + stage.path("job.sh") +
                 " & pids+=($!); done; for p in \"${pids[@]}\"; do wait $p || exit 1; done"},
            surroundings};
  EXPECT_EQ(p.ends(), 0) << p.err();
  EXPECT_EQ(contents(stage.path("file")), "8\n");
}

}  // namespace
}  // namespace afar::test
