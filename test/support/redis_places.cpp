#include "support/redis_places.hpp"

#include <sstream>
#include <stdexcept>

namespace afar::test {

std::vector<std::string> least_rights(const std::string& user, const std::string& password,
                                      const std::string& prefix) {
  std::istringstream words{
      "+hello +select +info +ping +client|kill +eval +evalsha +subscribe +unsubscribe +publish "
      "+scan +time +type +exists +del +pexpire +pttl +persist +get +mget +set +incrby "
      "+hget +hset +hdel +hmget +hgetall +hincrby +hexists +hlen "
      "+zadd +zscore +zrem +zremrangebyscore +zincrby +zrangebyscore +zrange"};
  std::vector<std::string> rule{"ACL",
                                "SETUSER",
                                user,
                                "reset",
                                "on",
                                ">" + password,
                                "~" + prefix + "*",
                                "~afar:*:{" + prefix + "*",
                                "~redisson_lock_token:{" + prefix + "*",
                                "&afar:client:*",
                                "&afar:*:{" + prefix + "*",
                                "&redisson_sc:{" + prefix + "*",
                                "&redisson_countdownlatch__channel__{" + prefix + "*"};
  for (std::string w; words >> w;) rule.push_back(w);
  return rule;
}

std::string redis_places::address(std::string_view kind) {
  const auto at = started_.find(kind);
  if (at != started_.end()) return at->second;
  return started_[std::string{kind}] = start(kind);
}

redis_server& redis_places::add(std::vector<std::string> options) {
  servers_.push_back(std::make_unique<redis_server>(std::move(options)));
  return *servers_.back();
}

// Independent servers that keep every vote: a quorum ignores those that have just been started, unless
// they forget nothing.
std::string redis_places::start_voters(int n) {
  std::string hosts;
  for (int i = 0; i < n; ++i)
    (hosts += i == 0 ? "" : ",") +=
        add({"--appendonly", "yes", "--appendfsync", "always"}).address();
  return hosts;
}

std::string redis_places::start(std::string_view kind) {
  if (kind == "redis") return add().address();
  if (kind == "unix") return add({"--unixsocket", "{folder}/s"}).folder() + "/s";
  if (kind == "tls") {
    certificates_ = std::make_unique<certificates>();
    const redis_server& s = add(certificates_->server_options());
    return "localhost:" + std::to_string(s.second_port()) +
           "?ca=" + certificates_->cert("authority");
  }
  if (kind == "acl") {
    const redis_server& s = add();
    if (s.ask(least_rights("worker", "pw", "test/")) != "+OK\r\n")
      throw std::runtime_error{"the server does not take the documented rule"};
    return "worker:pw@" + s.address();
  }
  if (kind == "sentinel") {
    sentinels_ = std::make_unique<sentinel_group>(nerves::patient);
    return sentinels_->url().substr(std::string_view{"redis+sentinel://"}.size());
  }
  if (kind == "cluster") {
    cluster_ = std::make_unique<redis_cluster>(nerves::patient);
    return cluster_->url().substr(std::string_view{"redis+cluster://"}.size());
  }
  if (kind == "quorum3") return start_voters(3);
  if (kind == "quorum5") return start_voters(5);
  throw std::runtime_error{"no servers are called " + std::string{kind}};
}

}  // namespace afar::test
