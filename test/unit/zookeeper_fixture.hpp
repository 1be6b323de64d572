// Clients on a real ZooKeeper server, straight and through a proxy, and a client without afar's engine
// that looks at the nodes.
#pragma once

#include "engines/zookeeper/session.hpp"
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"
#include "support/zookeeper_proxy.hpp"
#include "support/zookeeper_server.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

namespace afar::test {

// One request at a time.
class raw_zookeeper final : public engines::zookeeper::session_events {
 public:
  explicit raw_zookeeper(const std::string& servers)
      : session_({.servers = servers}, timer_, *this) {
    session_.open(boot_clock::now() + 10s, servers);
  }

  engines::zookeeper::answer ask(engines::zookeeper::request r) {
    std::promise<engines::zookeeper::answer> got;
    auto answer = got.get_future();
    session_.fly(std::move(r), [&](std::vector<engines::zookeeper::answer>& all) {
      got.set_value(std::move(all.front()));
    });
    return answer.get();
  }
  std::vector<std::string> children(const std::string& path) {
    auto names = ask(engines::zookeeper::ask::children(path)).names;
    std::ranges::sort(names);
    return names;
  }
  std::string data(const std::string& path) { return ask(engines::zookeeper::ask::get(path)).text; }

 private:
  void connected(bool) noexcept override {}
  void expired() noexcept override {}
  void changed(std::uint64_t) noexcept override {}

  engines::zookeeper::keeper timer_;
  engines::zookeeper::session session_;
};

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
