// Clients that are cut off from their server by a packet filter, both ways and one way, for longer than a
// lease. Nothing is reset and nothing delayed: what is sent is lost, as when somebody pulls a plug.
#include "support/cut_network.hpp"
#include "support/redis_server.hpp"
#include "support/sql_server.hpp"
#include "support/zookeeper_server.hpp"
#include "torture/runs.hpp"
#include "torture/server_faults.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace afar::test {
namespace {

using namespace std::chrono_literals;

fault partition(cut_network& net, const char* name, cut which, std::chrono::milliseconds kept_for) {
  return {std::string{"partition: "} + name, 3, false, [&net, which, kept_for](dice& d) {
            net.cut_off(which);
            pass_time(kept_for + kept_for * static_cast<int>(d() % 100) / 100);
            const bool bit = net.packets_lost() > 0;
            net.heal();
            return bit;
          }};
}

template <class Start>
void torment_cut_off(Start start, const std::string& options, std::chrono::milliseconds kept_for) {
  std::string why;
  const auto net = cut_network::make(why);
  if (!net) GTEST_SKIP() << why;
  const auto server = start();
  const std::string url = server->url() + options;
  const auto v = torment({.launcher = net->launcher(),
                          .url = url,
                          .workers_url = cut_network::from_there(url),
                          .network = false,
                          .more = {partition(*net, "both ways", cut::both_ways, kept_for),
                                   partition(*net, "to the server", cut::to_server, kept_for),
                                   partition(*net, "to the client", cut::to_client, kept_for)}});
  EXPECT_GT(v.grants, 300U);
}

TEST(tortures, redis_cut_off) {
  torment_cut_off([] { return std::make_unique<redis_server>(); }, "", 500ms);
}

TEST(tortures, zookeeper_cut_off) {
  torment_cut_off([] { return std::make_unique<zookeeper_server>(); }, "?session=2s", 2s);
}

TEST(tortures, mysql_cut_off) {
  torment_cut_off([] { return std::make_unique<sql_server>(database::mariadb); }, "", 500ms);
}

TEST(tortures, postgresql_cut_off) {
  torment_cut_off([] { return std::make_unique<sql_server>(database::postgresql); }, "", 500ms);
}

}  // namespace
}  // namespace afar::test
