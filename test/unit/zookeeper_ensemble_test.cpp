// Three servers: what the loss of one changes.
#include "zookeeper_fixture.hpp"

namespace afar::test {
namespace {

class zookeeper_ensemble : public ::testing::Test {
 protected:
  zookeeper_server servers{3};
  const std::string name = fresh_name();
};

TEST_F(zookeeper_ensemble, the_leader_is_killed_with_holders_and_waiters) {
  const client one{servers.url()};
  const client two{servers.url()};
  hold mine = mutex(one, name).acquire();
  counter{one, name + "/n"}.store(7);
  auto waiter = start([&] { return mutex(two, name).acquire(); });
  ASSERT_TRUE(has_waited(two));
  servers.stop(servers.leader());
  ASSERT_TRUE(eventually([&] { return counter(two, name + "/n").fetch_add(1) == 7; }, 30s));
  EXPECT_TRUE(mine.valid()) << "its session has moved";
  EXPECT_EQ(waiter.wait_for(10ms), std::future_status::timeout);
  const auto token = mine.token();
  mine.release();
  EXPECT_GT(waiter.get().token(), token);
}

TEST_F(zookeeper_ensemble, a_client_that_moves_between_servers_keeps_what_it_holds) {
  const client one{servers.url()};
  hold mine = mutex(one, name).acquire();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    servers.stop(i);
    EXPECT_TRUE(
        eventually([&] { return !mutex(one, name + "x").try_acquire_for(10s).name().empty(); }));
    EXPECT_TRUE(mine.valid());
    servers.start(i);
  }
  EXPECT_FALSE(mutex(client{servers.url()}, name).try_acquire());
}

}  // namespace
}  // namespace afar::test
