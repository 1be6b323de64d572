// A few seconds on one server of each engine: what every change must survive.
#include "support/redis_server.hpp"
#include "support/zookeeper_server.hpp"
#include "torture/process.hpp"
#include "torture/runs.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

namespace afar::test {
namespace {

using namespace std::chrono_literals;

constexpr auto a_while = 10s;

TEST(short_torture, of_the_embedded_engine) {
  const torture::temporary_folder folder{"afar-torture-test"};
  const auto v = torment({.url = "file://" + folder.path(), .time = a_while}, "short-embedded");
  EXPECT_TRUE(v.green());
  EXPECT_GT(v.grants, 1'000U);
}

TEST(short_torture, of_redis) {
  const redis_server server;
  const auto v = torment({.url = server.url(), .time = a_while}, "short-redis");
  EXPECT_TRUE(v.green());
  EXPECT_GT(v.grants, 1'000U);
}

TEST(short_torture, of_zookeeper) {
  const zookeeper_server server;
  const auto v = torment({.url = server.url() + "?session=2s", .time = a_while}, "short-zookeeper");
  EXPECT_TRUE(v.green());
  EXPECT_GT(v.grants, 300U);
}

}  // namespace
}  // namespace afar::test
