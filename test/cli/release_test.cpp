// afar release: breaking the hold of somebody else.
#include "verbs_fixture.hpp"

#include <sys/stat.h>

#include <sstream>
#include <vector>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class release : public verbs {
 protected:
  std::vector<nlohmann::json> audit() const {
    std::vector<nlohmann::json> lines;
    std::istringstream in{contents(stage.path("audit"))};
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
};

TEST_F(release, breaks_the_hold_and_tells_the_victim) {
  const client victim = stage.client({.lease = slowness * 3s});
  const hold mine = mutex(victim, "x").acquire();
  const auto a =
      run({"release", "x", "--token", std::to_string(mine.token()), "--reason", "stuck"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_THAT(a.err, HasSubstr("afar: x released; "));
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_EQ(mine.why(), loss_reason::evicted);
}

TEST_F(release, is_told_to_a_command_that_runs_under_the_lock) {
  auto p = start({"run", "--lease", "3s", "x", "--", "sh", "-c", "echo up; sleep 60"});
  ASSERT_TRUE(p.says("up"));
  const auto token = inspect(locks, "x")->holders.front().token;
  EXPECT_EQ(run({"release", "x", "--token", std::to_string(token), "--reason", "stuck"}).code, 0);
  EXPECT_EQ(p.ends(), 80);
  EXPECT_THAT(p.err(), HasSubstr("is lost (evicted)"));
}

TEST_F(release, is_written_down_before_and_after) {
  const hold mine = mutex(locks, "x").acquire();
  const auto j =
      json_of({"release", "x", "--token", std::to_string(mine.token()), "--reason", "stuck"});
  EXPECT_EQ(j.at("released"), true);
  const auto lines = audit();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("outcome"), "ordered");
  EXPECT_EQ(lines[1].at("outcome"), "released");
  for (const auto& line : lines) {
    EXPECT_EQ(line.at("name"), "x");
    EXPECT_EQ(line.at("token"), mine.token());
    EXPECT_EQ(line.at("reason"), "stuck");
    EXPECT_FALSE(line.at("user").get<std::string>().empty());
    EXPECT_FALSE(line.at("host").get<std::string>().empty());
    EXPECT_THAT(line.at("at").get<std::string>(), ::testing::ContainsRegex("^20..-..-..T"));
    EXPECT_THAT(line.at("holder").get<std::string>(),
                HasSubstr("pid " + std::to_string(::getpid())));
  }
  struct stat about{};
  ASSERT_EQ(::stat(stage.path("audit").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(release, compares_the_token) {
  const hold mine = mutex(locks, "x").acquire();
  const auto a = run({"release", "x", "--token", "7", "--reason", "stuck"});
  EXPECT_EQ(a.code, 1);
  EXPECT_THAT(a.err, HasSubstr("x is not held with token 7; it is held with " +
                               std::to_string(mine.token())));
  EXPECT_TRUE(audit().empty());
  EXPECT_TRUE(mine);
  EXPECT_EQ(run({"release", "y", "--token", "7", "--reason", "stuck"}).code, 1);
}

TEST_F(release, needs_a_token_and_a_reason) {
  EXPECT_EQ(run({"release", "x", "--reason", "stuck"}).code, 64);
  EXPECT_EQ(run({"release", "x", "--token", "7"}).code, 64);
  EXPECT_EQ(run({"release", "x", "--token", "7", "--reason", "  "}).code, 64);
}

TEST_F(release, says_that_this_engine_cannot_ask) {
  const hold mine = mutex(locks, "x").acquire();
  const auto a = run({"release", "x", "--ask"});
  EXPECT_EQ(a.code, 78);
  EXPECT_THAT(a.err, HasSubstr("this engine cannot ask a holder, only break its hold"));
  EXPECT_EQ(run({"release", "x", "--ask", "--reason", "stuck"}).code, 64);
  EXPECT_EQ(run({"release", "y", "--ask"}).code, 1);
}

TEST_F(release, does_nothing_that_it_cannot_write_down) {
  env["AFAR_AUDIT"] = "/proc/nowhere/audit";
  const hold mine = mutex(locks, "x").acquire();
  const auto a =
      run({"release", "x", "--token", std::to_string(mine.token()), "--reason", "stuck"});
  EXPECT_EQ(a.code, 78);
  EXPECT_THAT(a.err, HasSubstr("set AFAR_AUDIT"));
  EXPECT_EQ(inspect(locks, "x")->holders.front().token, mine.token());
}

TEST_F(release, asks_on_a_terminal) {
  const hold mine = mutex(locks, "x").acquire();
  const words_of words{"release",  "x",    "--token", std::to_string(mine.token()),
                       "--reason", "stuck"};
  {
    program p{on::terminal, afar(words), env};
    ASSERT_TRUE(p.says("[y/N]"));
    p.type("n\n");
    EXPECT_EQ(p.ends(), 1);
    EXPECT_THAT(p.out(), HasSubstr("nothing was done"));
  }
  program p{on::terminal, afar(words), env};
  ASSERT_TRUE(p.says("[y/N]"));
  p.type("y\n");
  EXPECT_EQ(p.ends(), 0);
  EXPECT_FALSE(inspect(locks, "x"));
}

}  // namespace
}  // namespace afar::test
