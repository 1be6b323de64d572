// node-redisson, which speaks Redisson's layout by itself: plain locks, both ways.
#include "../peer.hpp"
#include "support/engines.hpp"
#include "support/redis_server.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/mutex.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <memory>

namespace afar::test {
namespace {

class node_redisson : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = peers_folder();
    if (folder.empty()) GTEST_SKIP() << "the registry cannot be reached";
    ::setenv("NODE_PATH", (folder + "/node/node_modules").c_str(), 1);
    server = std::make_unique<redis_server>();
    node = std::make_unique<peer>(std::vector<std::string>{
        "node", AFAR_INTEROP "/node-redisson/peer.js", std::to_string(server->port())});
    std::cout << "node-redisson " << node->version() << '\n';
    locks = client{server->url() + "?layout=redisson"};
  }

  std::unique_ptr<redis_server> server;
  std::unique_ptr<peer> node;
  client locks{"memory:none"};
  const std::string name = fresh_name();
};

TEST_F(node_redisson, locks_and_afars_exclude_and_wake_each_other) {
  ASSERT_EQ(node->ask("a", "lock lock " + name), "ok");
  mutex mine{locks, name};
  EXPECT_FALSE(mine.try_lock());
  auto waiter = start([&] { return mine.try_lock_for(long_time); });
  EXPECT_TRUE(has_waited(locks));
  EXPECT_EQ(node->ask("a", "unlock lock " + name), "ok");
  EXPECT_TRUE(waiter.get());

  EXPECT_EQ(node->ask("b", "try lock " + name), "false");
  node->send("c", "lock lock " + name);
  EXPECT_FALSE(node->has_answered("c", 200ms));
  EXPECT_LT(time_of([&] {
              mine.unlock();
              EXPECT_EQ(node->answer("c"), "ok");
            }),
            5s);  // the lease is 30 s
  EXPECT_FALSE(mine.try_lock());
}

}  // namespace
}  // namespace afar::test
