// Servers that are several, of which some die.
#include "support/redis_topologies.hpp"
#include "support/server_process.hpp"
#include "support/sql_server.hpp"
#include "support/zookeeper_server.hpp"
#include "torture/runs.hpp"
#include "torture/server_faults.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace afar::test {
namespace {

using namespace std::chrono_literals;

// Replication of Redis is asynchronous: what the old master confirmed may be forgotten.
template <class MasterOf, class Promoted>
fault fail_over(redis_server*& dead, MasterOf master, Promoted promoted) {
  return {"fail over", 1, true, [&dead, master, promoted](dice&) {
            if (dead) dead->start();
            redis_server& old = master();
            old.stop();
            dead = &old;
            return promoted(old);
          }};
}

TEST(tortures, sentinel) {
  const sentinel_group group{nerves::quick};
  redis_server* dead = nullptr;
  torment({.url = group.url(),
           .more = {fail_over(
               dead, [&]() -> redis_server& { return group.master(); },
               [&](const redis_server& old) { return group.promoted_after(old); })}});
}

TEST(tortures, cluster) {
  const redis_cluster group{nerves::quick};
  redis_server* dead = nullptr;
  torment({.url = group.url(),
           .more = {fail_over(
               dead, [&]() -> redis_server& { return group.master_of("torture"); },
               [&](const redis_server& old) { return group.promoted_after(old, "torture"); })}});
}

TEST(tortures, quorum) {
  const three_servers servers;
  const fault restart_one{"kill and restart a server", 2, false, [&](dice& d) {
                            redis_server& one = *servers.all[d() % servers.all.size()];
                            one.stop();
                            pass_time(std::chrono::milliseconds{d() % 1'000});
                            one.start();
                            return true;
                          }};
  EXPECT_GT(torment({.url = servers.url(), .more = {restart_one}}).grants, 300U);
}

TEST(tortures, zookeeper3) {
  zookeeper_server group{3};
  const fault kill_the_leader{"fail over: kill the leader", 1, false, [&](dice&) {
                                const std::size_t old = group.leader();
                                group.stop(old);
                                pass_time(500ms);
                                group.start(old);
                                return true;
                              }};
  EXPECT_GT(torment({.url = group.url() + "?session=2s", .more = {kill_the_leader}}).grants, 300U);
}

// A standby follows asynchronously: what the primary confirmed last may be forgotten.
TEST(tortures, postgresql_promoted) {
  sql_server primary{database::postgresql};
  const sql_server standby{database::postgresql, sql_setting{.standby_of = primary.port()}};
  bool promoted = false;
  const fault promote{"fail over: promote the standby", 1, true, [&](dice&) {
                        if (std::exchange(promoted, true)) return false;  // there is no third one
                        primary.stop();
                        run({"psql", standby.url(), "-c", "SELECT pg_promote()"}, {},
                            standby.folder() + "/promotion");
                        return true;
                      }};
  const std::string at = primary.address();
  const std::string both = "postgresql://" + at.substr(0, at.find('/')) +
                           ",127.0.0.1:" + std::to_string(standby.port()) + at.substr(at.find('/'));
  EXPECT_GT(torment({.url = both, .network = false, .more = {promote}}).grants, 300U);
}

}  // namespace
}  // namespace afar::test
