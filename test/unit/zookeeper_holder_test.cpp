// What others can do to a holder: questions to release; and what a person is told of the servers.
#include "zookeeper_fixture.hpp"

#include <gmock/gmock.h>

namespace afar::test {
namespace {

using ::testing::HasSubstr;
namespace ask = engines::zookeeper::ask;

class zookeeper_holder : public zookeeper_test {
 protected:
  // Renews often.
  const client quick{server().url() + "/test?session=6s", {.lease = 900ms}};

  bool is_asked(const hold& h) {
    return eventually([&] { return h.lost().stop_requested(); }) && h.why() == loss_reason::asked;
  }
};

// Curator's Revoker writes this into the holder's node.
TEST_F(zookeeper_holder, that_is_asked_for_its_lock_by_Curator_is_told) {
  hold mine = mutex(quick, name).acquire();
  ASSERT_TRUE(eventually([&] { return quick.stats().renewed > 0; }));
  raw.ask(ask::set(path("/" + nodes().front()), "__REVOKE__"));
  EXPECT_TRUE(is_asked(mine));
  EXPECT_EQ(nodes().size(), 1U) << "it is still held";
  mine.release();
  EXPECT_TRUE(nodes().empty());
}

TEST_F(zookeeper_holder, that_is_asked_before_its_first_renewal_is_told_with_it) {
  const hold mine = mutex(quick, name).acquire();
  raw.ask(ask::set(path("/" + nodes().front()), "__REVOKE__"));
  EXPECT_TRUE(is_asked(mine));
}

TEST_F(zookeeper_holder, learns_from_the_doctor_which_session_the_servers_grant) {
  const auto row = [](const client& c) {
    for (const finding& f : examine(c))
      if (f.topic == "session") return f;
    return finding{};
  };
  EXPECT_THAT(row(other).text, HasSubstr("6000 ms"));
  // These servers grant at most 60 s, whatever is asked for.
  const finding longest = row(client{server().url() + "/test?session=300s"});
  EXPECT_THAT(longest.text, HasSubstr("60000 ms"));
  EXPECT_THAT(longest.text, HasSubstr("asked for 300000 ms"));
}

}  // namespace
}  // namespace afar::test
