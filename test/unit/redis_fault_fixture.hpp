// Clients on a real redis-server, straight and through a fault proxy.
#pragma once

#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/redis_server.hpp"
#include "support/renewed_lease.hpp"
#include "support/waiting.hpp"
#include "torture/fault_proxy.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

namespace afar::test {

using torture::fault_proxy;
using torture::mishap;
using torture::way;

class redis_fault_test : public ::testing::Test {
 protected:
  // No hand-over inside a client: every grant is one of the server's, with one token.
  static client connect(const std::string& url, client_options o = {}) {
    o.handoff = 0;
    return client{url, std::move(o)};
  }
  // Whether anybody but its holder could have it now.
  bool is_free(const std::string& n) const {
    const auto seen = inspect(straight, n);
    return !seen || seen->holders.empty();
  }

  // The server's connections of this moment, by number, without the one that asks.
  std::set<std::string> connections() const {
    std::string answer;  // "$<size>\r\n<list>\r\n"; of a busy server perhaps only its beginning
    EXPECT_TRUE(eventually([&] {
      answer = server.ask({"CLIENT", "LIST"});
      return answer.starts_with("$") &&
             answer.size() == answer.find("\r\n") + 4 + std::stoul(answer.substr(1));
    }));
    std::set<std::string> ids;
    std::istringstream all{answer};
    for (std::string word; all >> word;)
      if (word.starts_with("id=")) ids.insert(word.substr(3));
    ids.erase(std::ranges::max_element(ids, {}, [](const auto& id) { return std::stoll(id); }));
    return ids;
  }
  // Those of them that a client has made.
  std::set<std::string> added_to(const std::set<std::string>& before) const {
    std::set<std::string> more = connections();
    for (const std::string& id : before) more.erase(id);
    return more;
  }
  bool none_is_left(const std::set<std::string>& of) const {
    const auto now = connections();
    return std::ranges::none_of(of, [&](const std::string& id) { return now.contains(id); });
  }

  redis_server server;
  fault_proxy proxy{server.port()};
  client straight = connect(server.url());
  const std::string name = fresh_name();
};

}  // namespace afar::test
