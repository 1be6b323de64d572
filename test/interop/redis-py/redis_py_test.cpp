// Locks by a plain SET NX PX and afar's own layout: redis-py's Lock, both ways.
#include "../peer.hpp"
#include "support/engines.hpp"
#include "support/redis_server.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/mutex.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace afar::test {
namespace {

class redis_py : public ::testing::Test {
 protected:
  void SetUp() override { std::cout << "redis-py " << python.version() << '\n'; }

  redis_server server;
  peer python{
      {"/usr/bin/python3", AFAR_INTEROP "/redis-py/peer.py", std::to_string(server.port())}};
  client locks{server.url()};
  const std::string name = fresh_name();
};

TEST_F(redis_py, locks_and_afars_exclude_each_other) {
  ASSERT_EQ(python.ask("a", "lock lock " + name), "ok");
  mutex mine{locks, name};
  EXPECT_FALSE(mine.try_lock());
  auto waiter = start([&] { return mine.try_lock_for(long_time); });
  EXPECT_TRUE(has_waited(locks));
  EXPECT_EQ(python.ask("a", "unlock lock " + name), "ok");
  EXPECT_TRUE(waiter.get());

  EXPECT_EQ(python.ask("b", "try lock " + name), "false");
  python.send("c", "lock lock " + name);
  EXPECT_FALSE(python.has_answered("c", 100ms));
  mine.unlock();
  EXPECT_EQ(python.answer("c"), "ok");
  EXPECT_FALSE(mine.try_lock());
}

TEST_F(redis_py, locks_of_the_dead_end_by_time) {
  ASSERT_EQ(python.ask("a", "lock lock " + name + " 500"), "ok");
  python.kill();
  EXPECT_TRUE(mutex(locks, name).try_lock_for(long_time));
}

}  // namespace
}  // namespace afar::test
