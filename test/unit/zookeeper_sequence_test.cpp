// The servers count the nodes of a folder with 31 bits, and stick at the last number. Curator and kazoo
// lose exclusion there; a server that has counted so far is made by hand.
#include "support/zookeeper_snapshot.hpp"
#include "zookeeper_fixture.hpp"

#include <gmock/gmock.h>

namespace afar::test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(zookeeper_sequence, near_2_to_31_is_refused_at_its_end_and_then_begins_anew) {
  zookeeper_server server;
  const std::string url = server.url() + "/test";
  mutex(client{url}, "x").acquire().release();
  server.stop();
  server.start();  // writes down what it has
  server.stop();
  set_creations(server.folder() + "/data", "/test/x", 2'147'483'645);
  server.start();

  raw_zookeeper raw{server.address()};
  const client one{url};
  const client two{url};
  const client three{url};
  hold first = mutex(one, "x").acquire();
  auto waiter = start([&] { return mutex(two, "x").acquire(); });
  ASSERT_TRUE(has_waited(two));
  EXPECT_THAT(raw.children("/test/x"),
              UnorderedElementsAre(EndsWith("-lock-2147483645"), EndsWith("-lock-2147483646")));

  const auto refused = failure_of([&] { mutex(three, "x").lock(); });
  EXPECT_EQ(refused.code, errc::overflow);
  EXPECT_THAT(refused.message, HasSubstr("/test/x"));
  EXPECT_EQ(raw.children("/test/x").size(), 2U) << "it leaves nothing behind";

  const auto token = first.token();
  first.release();
  hold second = waiter.get();
  EXPECT_GT(second.token(), token);
  const auto last = second.token();
  second.release();
  const hold third = mutex(three, "x").acquire();
  EXPECT_THAT(raw.children("/test/x"), ElementsAre(EndsWith("-lock-0000000000")));
  EXPECT_GT(third.token(), last) << "tokens do not begin anew";
}

}  // namespace
}  // namespace afar::test
