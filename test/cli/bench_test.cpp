// afar bench: its figures make sense; how large they are is nobody's business here.
#include "verbs_fixture.hpp"

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class benches : public verbs {};

TEST_F(benches, measure_the_engine_that_is_named) {
  const auto j = json_of({"bench", "--time", "20ms", "--threads", "1,4"});
  EXPECT_THAT(j.at("url").get<std::string>(), HasSubstr("file://"));
  ASSERT_EQ(j.at("rows").size(), 5U);
  for (const auto& r : j.at("rows")) {
    EXPECT_GT(r.at("count"), 0) << r;
    EXPECT_GT(r.at("per_second"), 0) << r;
    EXPECT_LE(r.at("p50_us"), r.at("p99_us")) << r;
    EXPECT_LE(r.at("p99_us"), r.at("max_us")) << r;
  }
  EXPECT_TRUE(survey(locks).empty());
}

TEST_F(benches, draw_a_table) {
  const auto a = run({"bench", "--time", "10ms", "--threads", "1"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_THAT(a.out, HasSubstr("PER SECOND"));
  EXPECT_THAT(a.out, HasSubstr("█"));
  EXPECT_THAT(a.out, HasSubstr("hand-off, client to client"));
}

TEST_F(benches, refuse_what_makes_no_sense) {
  EXPECT_EQ(run({"bench", "--threads", "0"}).code, 64);
  EXPECT_EQ(run({"bench", "--time", "soon"}).code, 64);
}

}  // namespace
}  // namespace afar::test
