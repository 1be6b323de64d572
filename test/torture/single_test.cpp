// One server of each engine, and none.
#include "support/redis_server.hpp"
#include "support/sql_server.hpp"
#include "support/zookeeper_server.hpp"
#include "torture/process.hpp"
#include "torture/runs.hpp"
#include "torture/server_faults.hpp"

#include <gtest/gtest.h>

namespace afar::test {
namespace {

TEST(tortures, embedded_file) {
  const torture::temporary_folder folder{"afar-torture-test"};
  EXPECT_GT(torment({.url = "file://" + folder.path()}).grants, 1'000U);
}

TEST(tortures, embedded_local) { EXPECT_GT(torment({.url = "local:"}).grants, 1'000U); }

TEST(tortures, redis) {
  const auto lasting = lasting_redis();
  redis_server& server = *lasting;
  EXPECT_GT(torment({.url = server.url(),
                     .more = {standstill(server), restart(server), flush_scripts(server),
                              cut_clients(server), squeeze_memory(server)}})
                .grants,
            1'000U);
}

// Much traffic, few faults: what is rare by number of grants.
TEST(tortures, redis_rush) {
  const redis_server server;
  EXPECT_GT(torment({.url = server.url(), .network = false}).grants, 10'000U);
}

// Locks stay with their clients, who are asked for them back: all that is done to "redis" is done to these messages, too.
TEST(tortures, redis_sticky) {
  const auto lasting = lasting_redis();
  redis_server& server = *lasting;
  EXPECT_GT(torment({.url = server.url() + "?sticky=20ms",
                     .more = {standstill(server), restart(server), flush_scripts(server),
                              cut_clients(server), squeeze_memory(server)}})
                .grants,
            1'000U);
}

TEST(tortures, redis_redisson) {
  const redis_server server;
  EXPECT_GT(
      torment({.url = server.url() + "?layout=redisson", .more = {flush_scripts(server)}}).grants,
      1'000U);
}

TEST(tortures, zookeeper) {
  zookeeper_server server;
  EXPECT_GT(torment({.url = server.url() + "?session=2s", .more = {standstill(server)}}).grants,
            300U);
}

void torment_database(database what) {
  sql_server server{what};
  EXPECT_GT(torment({.url = server.url(), .more = {standstill(server), restart(server)}}).grants,
            300U);
}
TEST(tortures, mysql) { torment_database(database::mariadb); }
TEST(tortures, postgresql) { torment_database(database::postgresql); }

}  // namespace
}  // namespace afar::test
