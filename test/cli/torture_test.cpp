// afar torture: what it prints and refuses. What it finds is tested in test/torture.
#include "verbs_fixture.hpp"

#include <filesystem>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class tortures : public verbs {};

TEST_F(tortures, tell_what_they_did_and_leave_nothing) {
  const auto a = run({"torture", "--time", "5s", "--faults", "kill", "--seed", "7", "--workers",
                      "3", "--page", stage.path("page.html"), "--json"});
  const auto j = nlohmann::json::parse(a.out, nullptr, false);
  const bool broken = !j.at("violations").empty();
  const bool invalid = !j.at("invalid").empty();
  EXPECT_EQ(a.code, broken ? 1 : invalid ? 81 : 0) << a.out << a.err;
  EXPECT_EQ(j.at("outcome"), broken ? "BROKEN" : invalid ? "INVALID" : "kept");
  for (const char* kind : {"mutex", "latch", "counting_semaphore", "barrier", "multi_lock"})
    EXPECT_GT(j.at("uses").at(kind), 0) << kind;
  EXPECT_GT(j.at("searched").at("operations"), 100);
  EXPECT_EQ(j.at("seed"), 7);
  EXPECT_GT(j.at("grants"), 100);
  EXPECT_GT(j.at("kills"), 0);
  EXPECT_GT(j.at("faults").at("kill a holder"), 0);
  EXPECT_THAT(j.at("replay").get<std::string>(), HasSubstr("--seed 7"));
  EXPECT_TRUE(survey(locks).empty());
  EXPECT_GT(std::filesystem::file_size(stage.path("page.html")), 500U);
}

// An engine without TCP has no network to be troubled.
TEST_F(tortures, in_which_nothing_was_done_are_neither_good_nor_bad) {
  const auto a =
      run({"torture", "--time", "2s", "--lease", "100ms", "--faults", "network", "--json"});
  const auto j = nlohmann::json::parse(a.out, nullptr, false);
  EXPECT_THAT(j.at("invalid").dump(), HasSubstr("nothing was done to it"));
  // On a machine that is very busy a deadline may be broken all the same.
  EXPECT_EQ(a.code, j.at("violations").empty() ? 81 : 1) << a.out << a.err;
}

TEST_F(tortures, refuse_what_makes_no_sense) {
  EXPECT_EQ(run({"torture", "--time", "1s"}).code, 64);
  EXPECT_EQ(run({"torture", "--faults", "flood"}).code, 64);
  EXPECT_EQ(run({"torture", "--workers", "1"}).code, 64);
  env["AFAR_URL"] = "memory:";
  const auto a = run({"torture", "--time", "5s"});
  EXPECT_EQ(a.code, 64);
  EXPECT_THAT(a.err, HasSubstr("several processes"));
}

}  // namespace
}  // namespace afar::test
