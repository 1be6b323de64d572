// afar elect: one of several hosts runs the command.
#include "verbs_fixture.hpp"

#include <csignal>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class elections : public verbs {};

TEST_F(elections, run_the_command_while_leading) {
  auto p = start(
      {"elect", "e", "--value", "me", "--", "sh", "-c", "echo term $AFAR_TOKEN; read x; exit 7"});
  ASSERT_TRUE(p.says("term "));
  const auto led = election(locks, "e").current();
  ASSERT_TRUE(led);
  EXPECT_EQ(led->value, "me");
  EXPECT_THAT(p.out(), HasSubstr("term " + std::to_string(led->term)));
  p.type("\n");
  EXPECT_EQ(p.ends(), 7);
  EXPECT_FALSE(election(locks, "e").current());
}

TEST_F(elections, have_one_leader_and_then_the_next) {
  auto one = start({"elect", "e", "--", "sh", "-c", "echo leads; read x"});
  ASSERT_TRUE(one.says("leads"));
  auto two = start({"elect", "e", "--", "sh", "-c", "echo leads; read x"});
  ASSERT_TRUE(stage.becomes("e", 1, 1));
  EXPECT_EQ(two.out(), "");
  one.close_stdin();
  EXPECT_NE(one.ends(), -1);
  EXPECT_TRUE(two.says("leads"));
}

TEST_F(elections, stand_again_after_a_loss) {
  auto p =
      start({"elect", "e", "--lease", "3s", "--", "sh", "-c", "echo term $AFAR_TOKEN; sleep 60"});
  ASSERT_TRUE(p.says("term "));
  const auto first = election(locks, "e").current()->term;
  EXPECT_TRUE(evict(locks, "e", first));
  ASSERT_TRUE(eventually(
      [&] {
        const auto now = election(locks, "e").current();
        return now && now->term > first && p.says("term " + std::to_string(now->term));
      },
      20s));
  EXPECT_THAT(p.err(), HasSubstr("lost (evicted)"));
  p.signal(SIGTERM);
  EXPECT_EQ(p.ends(), 128 + SIGTERM);
}

TEST_F(elections, need_a_command) {
  const auto a = run({"elect", "e"});
  EXPECT_EQ(a.code, 64);
  EXPECT_THAT(a.err, HasSubstr("(afar help elect)"));
  const hold lead = election(locks, "e").campaign();
  EXPECT_EQ(run({"elect", "e", "-w", "30ms", "--", "true"}).code, 75);
}

}  // namespace
}  // namespace afar::test
