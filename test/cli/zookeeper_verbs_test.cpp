// The command line on a ZooKeeper server: what is different there.
#include "support/zookeeper_server.hpp"
#include "verbs_fixture.hpp"

namespace afar::test {
namespace {

using ::testing::HasSubstr;

class zookeeper_verbs : public verbs {
 protected:
  zookeeper_verbs() { env["AFAR_URL"] = url; }

  const zookeeper_server server;
  const std::string url = server.url() + "/test?session=6s";
  const client remote{url, {.lease = 3s}};
};

TEST_F(zookeeper_verbs, release_asks_or_breaks) {
  const hold mine = mutex(remote, "nightly").acquire();
  const std::string token = std::to_string(mine.token());
  const auto asked = run({"release", "nightly", "--ask"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr(" is asked to release nightly"));
  EXPECT_TRUE(eventually([&] { return mine.lost().stop_requested(); }));
  EXPECT_EQ(mine.why(), loss_reason::asked);
  EXPECT_EQ(json_of({"release", "nightly", "--ask", "--token", token}).at("asked").at(0),
            mine.token());
  EXPECT_EQ(run({"release", "nightly", "--ask", "--token", "7"}).code, 1);
  EXPECT_FALSE(mutex(client{url}, "nightly").try_acquire()) << "it is still held";
  EXPECT_EQ(contents(stage.path("audit")), "") << "nothing was forced";
  EXPECT_TRUE(eventually([&] { return inspect(remote, "nightly")->holders.at(0).pid != 0; }))
      << "the holder is shown again";
  const auto broken = run({"release", "nightly", "--token", token, "--reason", "does not listen"});
  EXPECT_EQ(broken.code, 0) << broken.err;
  EXPECT_TRUE(mutex(client{url}, "nightly").try_acquire());
}

// Asked, a command is stopped as when its lock is lost, and the next one can have it.
TEST_F(zookeeper_verbs, a_command_that_runs_under_the_lock_ends_when_it_is_asked) {
  auto p = start({"run", "--lease", "3s", "nightly", "--", "sh", "-c", "echo up; sleep 60"});
  ASSERT_TRUE(p.says("up"));
  EXPECT_EQ(run({"release", "nightly", "--ask"}).code, 0);
  EXPECT_EQ(p.ends(), 80);
  EXPECT_THAT(p.err(), HasSubstr("the lock nightly is asked for; the command is stopped"));
  EXPECT_TRUE(mutex(remote, "nightly").try_acquire_for(long_time));
}

TEST_F(zookeeper_verbs, a_command_goes_on_when_it_is_asked_if_it_is_only_to_be_warned) {
  auto p = start({"run", "--lease", "3s", "--on-lost", "warn", "nightly", "--", "cat"});
  ASSERT_TRUE(eventually([&] { return inspect(remote, "nightly").has_value(); }));
  EXPECT_EQ(run({"release", "nightly", "--ask"}).code, 0);
  EXPECT_TRUE(eventually([&] { return p.err().find("; the command goes on") != p.err().npos; }));
  EXPECT_TRUE(inspect(remote, "nightly"));
  p.close_stdin();
  EXPECT_EQ(p.ends(), 0);
}

TEST_F(zookeeper_verbs, doctor_knows_the_session_and_the_servers) {
  const auto a = run({"doctor"});
  EXPECT_EQ(a.code, 0) << a.out;
  EXPECT_THAT(a.out, HasSubstr("ok   session     6000 ms"));
  EXPECT_THAT(a.out, HasSubstr("WARN servers     one server"));
  EXPECT_THAT(a.out,
              HasSubstr("ok   probe       acquire, renew, contend, fence and release passed"));
}

}  // namespace
}  // namespace afar::test
