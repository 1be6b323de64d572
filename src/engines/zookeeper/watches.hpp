// Which nodes are watched, and who wants to know. ZooKeeper's watches ring once: while somebody is
// interested they are set again, before anybody is woken, so that whoever looks then misses nothing.
//
// Keys: 'n' node         that node goes, or its data changes
//       'c' node         a cell: it comes, goes or changes
//       'k' node         its children change
//       's' node         a survey: its children, or the data of the first of them
//       'b' node '\n' m  a barrier's member m: the children of the node, and m's data
#pragma once

#include "engines/zookeeper/session.hpp"

#include <afar/detail/function.hpp>
#include <afar/spi/engine.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace afar::engines::zookeeper {

class watches {
 public:
  watches(session& s, spi::host& up) : session_(s), up_(up) {}
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  void watch(std::string_view key, spi::done<spi::watch_reply>);
  void unwatch(std::string_view key) noexcept;

  // A request with this watch calls `then` when it rings; not after the session has ended.
  std::uint64_t once(detail::function<void()> then);

  void rang(std::uint64_t watch);
  void session_ended();  // all watches are gone
  void set_again();      // those that do not hang: of a new session, or lost with the connection

 private:
  using verb = request::verb;
  using bell = std::pair<verb, std::string>;  // what is asked about which node

  std::vector<request> bells_of(const std::string& key);
  void set(const std::string& key, spi::done<spi::watch_reply>);
  void set_leader(const std::string& key, std::vector<std::string> names);
  std::uint64_t hang(const bell&, const std::string& key);

  session& session_;
  spi::host& up_;
  std::mutex m_;
  std::uint64_t last_ = 0;
  std::set<std::string, std::less<>> keys_;        // wanted
  std::map<bell, std::set<std::string>> hanging_;  // set at the server; who hears them
  std::map<std::uint64_t, bell> numbers_;
  std::map<std::uint64_t, detail::function<void()>> once_;
};

}  // namespace afar::engines::zookeeper
