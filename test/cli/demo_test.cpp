// afar demo: the main job, and the engines it runs on.
#include "verbs_fixture.hpp"

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class demos : public verbs {};

TEST_F(demos, keep_every_promise_on_the_engine_that_is_named) {
  const auto j = json_of({"demo", "--seconds", "2", "--workers", "4", "--stock", "200"});
  EXPECT_GT(j.at("acquisitions"), 0);
  EXPECT_GT(j.at("kills"), 0);
  EXPECT_EQ(j.at("overlaps"), 0);
  EXPECT_EQ(j.at("oversold"), 0);
  EXPECT_EQ(j.at("stale_writes_accepted"), 0);
  EXPECT_EQ(j.at("tokens_out_of_order"), 0);
  EXPECT_TRUE(j.at("broken").empty());
  EXPECT_TRUE(survey(locks).empty());
}

TEST_F(demos, run_in_a_folder_of_their_own_if_no_engine_is_named) {
  env["AFAR_URL"] = "";
  env["XDG_CONFIG_HOME"] = stage.path("nothing");
  const auto a = run({"demo", "--seconds", "1", "--workers", "2", "--stock", "50"});
  EXPECT_EQ(a.code, 0) << a.out << a.err;
  EXPECT_THAT(a.out, HasSubstr("afar-demo-"));
  EXPECT_THAT(a.out, HasSubstr("  oversold "));
  EXPECT_THAT(a.out, HasSubstr("Every promise was kept."));
}

TEST_F(demos, have_one_live_line_on_a_terminal) {
  program p{on::terminal, afar({"demo", "--seconds", "1", "--workers", "2", "--stock", "50"}), env};
  EXPECT_EQ(p.ends(), 0);
  // program leaves out the returns: the next state of the line follows the last one.
  EXPECT_THAT(p.out(), ::testing::ContainsRegex("left [0-9]+ +[0-9.]+ s  acquired"));
}

TEST_F(demos, refuse_what_makes_no_sense) {
  EXPECT_EQ(run({"demo", "--workers", "1"}).code, 64);
  EXPECT_EQ(run({"demo", "--seconds", "0"}).code, 64);
  env["AFAR_URL"] = "memory:";
  const auto a = run({"demo", "--seconds", "1"});
  EXPECT_EQ(a.code, 64);
  EXPECT_THAT(a.err, HasSubstr("several processes"));
}

}  // namespace
}  // namespace afar::test
