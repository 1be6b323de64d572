// A client without afar's engine that looks at the nodes, one request at a time.
#pragma once

#include "engines/zookeeper/session.hpp"
#include "support/patience.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace afar::test {

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
  void connected() noexcept override {}
  void expired() noexcept override {}
  void changed(std::uint64_t) noexcept override {}

  engines::zookeeper::keeper timer_;
  engines::zookeeper::session session_;
};

}  // namespace afar::test
