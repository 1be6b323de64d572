// Workers whose library has fault points are killed and stopped at every one of them. A point that
// nobody passes makes a run invalid, so all of them are reached.
#include "support/redis_server.hpp"
#include "support/sql_server.hpp"
#include "support/zookeeper_server.hpp"
#include "torture/point_list.hpp"
#include "torture/process.hpp"
#include "torture/runs.hpp"
#include "torture/server_faults.hpp"

#include <gtest/gtest.h>

#include <set>

namespace afar::test {
namespace {

// Those of the core, and of the engine with this name.
std::vector<std::string> points_of(const std::set<std::string>& parts) {
  std::vector<std::string> names;
  for (const std::string& p : listed_points())
    if (parts.contains(p.substr(0, p.find('.')))) names.push_back(p);
  return names;
}

void torment_at_points(const std::string& url, std::set<std::string> parts, bool evicts = false) {
  parts.insert("core");
  const auto points = points_of(parts);
  EXPECT_GT(points.size(), 6U);
  torment({.program = AFAR_FAULTED_WORKER,
           .url = url,
           .network = false,
           .points = points,
           .evicts = evicts});
}

TEST(tortures, embedded_points) {
  const torture::temporary_folder folder{"afar-torture-test"};
  torment_at_points("file://" + folder.path(), {"embedded"}, true);
}

TEST(tortures, redis_points) {
  const redis_server server;
  torment_at_points(server.url(), {"redis"});
}

TEST(tortures, quorum_points) {
  const three_servers servers;
  torment_at_points(servers.url(), {"quorum"});
}

TEST(tortures, zookeeper_points) {
  const zookeeper_server server;
  torment_at_points(server.url() + "?session=2s", {"zookeeper"});
}

TEST(tortures, mysql_points) {
  const sql_server server{database::mariadb};
  torment_at_points(server.url(), {"sql"});
}

TEST(tortures, postgresql_points) {
  const sql_server server{database::postgresql};
  torment_at_points(server.url(), {"sql"});
}

}  // namespace
}  // namespace afar::test
