// Minutes, with everything that can be done to servers. Figures are summed up by script/test --full.
#include "support/redis_server.hpp"
#include "support/redis_topologies.hpp"
#include "support/zookeeper_server.hpp"
#include "torture/process.hpp"
#include "torture/runs.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace afar::test {
namespace {

using namespace std::chrono_literals;
using torture::eventually;
using torture::fault;
using dice = std::minstd_rand;

// A server that stands still for a while, now and then longer than a lease.
template <class Server>
fault standstill(Server& s) {
  return {"stop the server", 1, false, [&s](dice& d) {
            s.suspend();
            eventually(std::chrono::milliseconds{100 + d() % 700}, [] { return false; });
            s.resume();
            return true;
          }};
}

fault flush_scripts(const redis_server& s) {
  return {"flush the scripts", 2, false,
          [&s](dice&) { return s.ask({"SCRIPT", "FLUSH"}).starts_with("+OK"); }};
}

fault cut_clients(const redis_server& s) {
  return {"cut all clients off", 1, false,
          [&s](dice&) { return s.ask({"CLIENT", "KILL", "TYPE", "normal"}).starts_with(":"); }};
}

TEST(full_torture, of_the_embedded_engine) {
  const torture::temporary_folder folder{"afar-torture-test"};
  const auto v = torment({.url = "file://" + folder.path(), .time = 45s}, "embedded");
  EXPECT_TRUE(v.green());
  EXPECT_GT(v.grants, 10'000U);
}

TEST(full_torture, of_redis) {
  redis_server server;
  const auto v = torment({.url = server.url(),
                          .time = 95s,
                          .more = {standstill(server), flush_scripts(server), cut_clients(server)}},
                         "redis");
  EXPECT_TRUE(v.green());
}

// Much traffic, few faults: what is rare by number of grants.
TEST(full_torture, of_redis_in_a_rush) {
  redis_server server;
  const auto v = torment({.url = server.url(), .time = 70s, .network = false}, "redis-rush");
  EXPECT_TRUE(v.green());
}

TEST(full_torture, of_redis_in_redissons_layout) {
  const redis_server server;
  const auto v = torment({.url = server.url() + "?layout=redisson", .time = 40s}, "redisson");
  EXPECT_TRUE(v.green());
}

TEST(full_torture, of_sentinel_with_failovers) {
  const sentinel_group group{nerves::quick};
  redis_server* dead = nullptr;
  const fault fail_over{"fail over", 1, true, [&](dice&) {
                          if (dead) dead->start();
                          redis_server& old = group.master();
                          old.stop();
                          dead = &old;
                          return group.promoted_after(old);
                        }};
  const auto v = torment({.url = group.url(), .time = 60s, .more = {fail_over}}, "sentinel");
  EXPECT_TRUE(v.green());
}

TEST(full_torture, of_zookeeper) {
  zookeeper_server server;
  const auto v =
      torment({.url = server.url() + "?session=2s", .time = 60s, .more = {standstill(server)}},
              "zookeeper");
  EXPECT_TRUE(v.green());
}

TEST(full_torture, of_zookeeper_whose_leaders_die) {
  zookeeper_server group{3};
  const fault kill_the_leader{"kill the leader", 1, false, [&](dice&) {
                                const std::size_t old = group.leader();
                                group.stop(old);
                                eventually(500ms, [] { return false; });
                                group.start(old);
                                return true;
                              }};
  const auto v = torment(
      {.url = group.url() + "?session=2s", .time = 60s, .more = {kill_the_leader}}, "zookeeper3");
  EXPECT_TRUE(v.green());
}

}  // namespace
}  // namespace afar::test
