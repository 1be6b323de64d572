#include "support/redis_topologies.hpp"

#include "support/patience.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace afar::test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void need(bool true_in_time, const char* what) {
  if (!true_in_time) throw std::runtime_error{std::string{"redis: "} + what};
}

bool takes_writes(const redis_server& s) {
  return has(s.ask({"SET", "afar-test-probe", "1", "PX", "1"}), "+OK");
}

std::string listed(const std::vector<std::unique_ptr<redis_server>>& all) {
  std::string hosts;
  for (const auto& s : all) (hosts += hosts.empty() ? "" : ",") += s->address();
  return hosts;
}

redis_server* with_port(const std::vector<std::unique_ptr<redis_server>>& all,
                        const std::string& port) {
  for (const auto& s : all)
    if (std::to_string(s->port()) == port) return s.get();
  return nullptr;
}

}  // namespace

std::string text_of(const std::string& answer) {
  if (!answer.starts_with('$')) return answer;
  const auto at = answer.find("\r\n") + 2;
  return answer.substr(at, answer.size() - at - 2);
}

// ---- Sentinel -----------------------------------------------------------------------------------

sentinel_group::sentinel_group(nerves how) {
  servers.push_back(std::make_unique<redis_server>());
  const std::string port = std::to_string(servers[0]->port());
  for (int i = 0; i < 2; ++i)
    servers.push_back(std::make_unique<redis_server>(
        std::vector<std::string>{"--replicaof", "127.0.0.1 " + port}));
  need(
      eventually(
          [&] { return has(servers[0]->ask({"INFO", "replication"}), "connected_slaves:2"); }, 20s),
      "the replicas do not come");
  const std::string after = how == nerves::quick ? "1000" : "60000";
  for (int i = 0; i < 3; ++i)
    sentinels.push_back(redis_server::sentinel(
        "sentinel monitor m 127.0.0.1 " + port + " 2\nsentinel down-after-milliseconds m " + after +
        "\nsentinel failover-timeout m 5000\n" + "sentinel parallel-syncs m 2\n"));
  const auto know_all = [](const redis_server& s) {
    const std::string answer = s.ask({"SENTINEL", "MASTER", "m"});
    return has(answer, "num-other-sentinels\r\n$1\r\n2") && has(answer, "num-slaves\r\n$1\r\n2");
  };
  need(eventually(
           [&] { return std::ranges::all_of(sentinels, [&](auto& s) { return know_all(*s); }); },
           20s),
       "the Sentinels do not find each other");
}

std::string sentinel_group::url() const { return "redis+sentinel://" + listed(sentinels) + "/m"; }

redis_server& sentinel_group::master() const {
  redis_server* found = nullptr;
  need(eventually(
           [&] {
             std::istringstream answer{
                 sentinels[0]->ask({"SENTINEL", "get-master-addr-by-name", "m"})};
             std::string line;
             for (int i = 0; i < 5; ++i) std::getline(answer, line);  // *2 $9 host $5 port
             found = with_port(servers, line.substr(0, line.find('\r')));
             return found != nullptr;
           },
           20s),
       "the Sentinel names no master");
  return *found;
}

bool sentinel_group::promoted_after(const redis_server& old) const {
  return eventually([&] { return &master() != &old && takes_writes(master()); }, 30s);
}

// ---- Cluster ------------------------------------------------------------------------------------

redis_cluster::redis_cluster(nerves how) {
  const std::string timeout = how == nerves::quick ? "1500" : "60000";
  for (int i = 0; i < 6; ++i)
    servers.push_back(std::make_unique<redis_server>(
        std::vector<std::string>{"--cluster-enabled", "yes", "--cluster-port", "{port}",
                                 "--cluster-node-timeout", timeout}));
  const char* ranges[3][2] = {{"0", "5460"}, {"5461", "10922"}, {"10923", "16383"}};
  for (std::size_t i = 0; i < 3; ++i) {
    servers[i]->ask({"CLUSTER", "ADDSLOTSRANGE", ranges[i][0], ranges[i][1]});
    servers[i]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
  }
  for (const auto& s : servers)
    if (s != servers[0])
      servers[0]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(s->port()),
                       std::to_string(s->second_port())});
  const auto all = [&](const auto& test) {
    return eventually(
        [&] { return std::ranges::all_of(servers, [&](auto& s) { return test(*s); }); }, 30s);
  };
  need(all([](const redis_server& s) {
         return has(s.ask({"CLUSTER", "INFO"}), "cluster_known_nodes:6");
       }),
       "the servers of the cluster do not find each other");
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string id = id_of(*servers[i]);
    need(eventually([&] { return has(servers[i + 3]->ask({"CLUSTER", "REPLICATE", id}), "+OK"); },
                    20s),
         "a replica of the cluster does not follow");
  }
  need(all([](const redis_server& s) {
         return has(s.ask({"CLUSTER", "INFO"}), "cluster_state:ok");
       }),
       "the cluster does not get ready");
  const auto in_step = [](const redis_server& s) {
    return has(s.ask({"INFO", "replication"}), "role:master") ||
           has(s.ask({"INFO", "replication"}), "master_link_status:up");
  };
  need(all(in_step), "the replicas of the cluster do not get in step");
  // Everybody knows who replicates whom: 3 masters in everybody's list of slots, with a replica each.
  need(all([](const redis_server& s) {
         const std::string nodes = s.ask({"CLUSTER", "NODES"});
         std::size_t replicas = 0;
         for (auto at = nodes.find("slave"); at != std::string::npos;
              at = nodes.find("slave", at + 1))
           ++replicas;
         return replicas == 3;
       }),
       "the servers of the cluster disagree");
}

std::string redis_cluster::url() const { return "redis+cluster://" + listed(servers); }

std::string redis_cluster::id_of(const redis_server& s) const {
  return text_of(s.ask({"CLUSTER", "MYID"}));
}

redis_server& redis_cluster::alive() const {
  for (const auto& s : servers)
    if (s->pid() > 0 && has(s->ask({"PING"}), "PONG")) return *s;
  throw std::runtime_error{"no server of the cluster answers"};
}

// Asks for the key until nobody says MOVED.
redis_server& redis_cluster::master_of(const std::string& key) const {
  redis_server* found = nullptr;
  const auto follow = [&] {
    redis_server* at = &alive();
    for (int hops = 0; at && hops < 5; ++hops) {
      const std::string answer = at->ask({"EXISTS", key});
      if (answer.starts_with(":")) {
        found = at;
        return true;
      }
      if (!answer.starts_with("-MOVED")) return false;
      const auto colon = answer.rfind(':');
      at = with_port(servers, answer.substr(colon + 1, answer.find('\r') - colon - 1));
    }
    return false;
  };
  need(eventually(follow, 30s), "nobody serves the key");
  return *found;
}

bool redis_cluster::promoted_after(const redis_server& old, const std::string& key) const {
  return eventually(
      [&] {
        const redis_server& now = master_of(key);
        return &now != &old && has(now.ask({"PEXPIRE", key, "1"}), ":");
      },
      30s);
}

}  // namespace afar::test
