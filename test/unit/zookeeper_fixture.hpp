// Clients on a real ZooKeeper server, straight and through a proxy, and one that looks at the nodes.
#pragma once

#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/raw_zookeeper.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"
#include "support/zookeeper_proxy.hpp"
#include "support/zookeeper_server.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace afar::test {

class zookeeper_test : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new zookeeper_server; }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  static zookeeper_server& server() { return *server_; }

  // As short as the server allows with some room on a busy machine.
  static constexpr auto session = 6s;
  static client connect(const std::string& url) {
    return client{url + "/test?session=6s", {.lease = 30s}};
  }

  std::string path(const std::string& below = {}) const { return "/test/" + name + below; }
  std::vector<std::string> nodes() { return raw.children(path()); }

  zookeeper_proxy proxy{server().port()};
  client through = connect(proxy.url());
  client other = connect(server().url());
  raw_zookeeper raw{server().address()};
  // Without a '/', which is not itself in the node's name.
  const std::string name = [] {
    std::string n = fresh_name();
    std::ranges::replace(n, '/', '.');
    return n;
  }();

 private:
  inline static zookeeper_server* server_ = nullptr;
};

}  // namespace afar::test
