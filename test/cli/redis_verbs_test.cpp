// The command line across machines: the same verbs on a redis-server.
#include "support/redis_server.hpp"
#include "verbs_fixture.hpp"

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class redis_verbs : public verbs {
 protected:
  redis_verbs() { env["AFAR_URL"] = server.url(); }

  redis_server server;
  const client remote{server.url()};
};

TEST_F(redis_verbs, run_a_command_under_a_lock) {
  const auto a = run({"run", "nightly", "--", "sh", "-c", "echo $AFAR_NAME $AFAR_TOKEN"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_THAT(a.out, HasSubstr("nightly 1"));
  EXPECT_FALSE(inspect(remote, "nightly")) << "it was released";
}

TEST_F(redis_verbs, say_who_holds_what_is_not_got) {
  const hold mine = mutex(remote, "nightly").acquire();
  const auto a = run({"run", "-n", "nightly", "true"});
  EXPECT_EQ(a.code, 75);
  EXPECT_THAT(a.err, HasSubstr("nightly is held by "));
  EXPECT_THAT(a.err, HasSubstr(std::to_string(mine.token())));
}

TEST_F(redis_verbs, list_break_and_tell) {
  const hold mine = mutex(remote, "nightly").acquire();
  const auto all = json_of({"ls"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.at(0).at("name"), "nightly");
  const auto a = run({"release", "nightly", "--token", std::to_string(mine.token()), "--reason",
                      "the holder hangs", "--yes"});
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_TRUE(mutex(client{server.url()}, "nightly").try_acquire().valid());
}

TEST_F(redis_verbs, doctor_knows_the_settings_of_the_server) {
  const auto a = run({"doctor"});
  EXPECT_EQ(a.code, 0) << a.out;
  EXPECT_THAT(a.out, HasSubstr("WARN durability"));
  EXPECT_THAT(a.out, HasSubstr("ok   eviction"));
  EXPECT_THAT(a.out,
              HasSubstr("ok   probe       acquire, renew, contend, fence and release passed"));
  EXPECT_TRUE(survey(remote).empty()) << "and leaves nothing behind";
}

TEST_F(redis_verbs, gc_ends_well) { EXPECT_EQ(run({"gc"}).code, 0); }

TEST_F(redis_verbs, say_soon_that_there_is_no_server) {
  server.stop();
  answer a;
  const auto took = time_of([&] { a = run({"run", "nightly", "true"}); });
  EXPECT_EQ(a.code, 69);
  EXPECT_THAT(a.err, HasSubstr("refused"));
  EXPECT_LT(took, slowness * 2s);
  EXPECT_EQ(run({"doctor"}).code, 1);
}

}  // namespace
}  // namespace afar::test
