// A redis-server, Redisson beside it, and afar in Redisson's layout.
#pragma once

#include "../peer.hpp"
#include "support/engines.hpp"
#include "support/redis_server.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>

namespace afar::test {

// By a message: far less than the second after which afar, and the lease after which Redisson, looks
// by itself.
inline constexpr nanoseconds soon = 300ms;

// The lease of Java's locks, which it renews every third of it; so much that a busy machine keeps up.
inline constexpr milliseconds java_lease = 6s;

class redisson_base : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!peers_folder().empty()) server = std::make_unique<redis_server>();
  }
  static void TearDownTestSuite() {
    java.reset();
    server.reset();
  }
  void SetUp() override {
    if (!server) GTEST_SKIP() << "the registry cannot be reached";
    if (!java) start_java();
    locks = client{url()};
  }

  static void start_java() {
    const std::string folder = peers_folder();
    java = std::make_unique<peer>(std::vector<std::string>{
        "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx128m", "-cp",
        folder + ":" + folder + "/redisson-all-4.7.0.jar", "Peer", std::to_string(server->port()),
        std::to_string(java_lease.count())});
    std::cout << "Redisson " << java->version() << '\n';
  }
  static void kill_java() {
    java->kill();
    java.reset();
  }

  static std::string url(const std::string& more = {}) {
    return server->url() + "?layout=redisson" + more;
  }
  static std::unique_ptr<peer> start_afar(const std::string& more = {}) {
    return std::make_unique<peer>(std::vector<std::string>{AFAR_PEER, url(more)});
  }

  // Whether anybody listens: how one sees that Java waits.
  static bool subscribed(const std::string& channel) {
    return eventually(
        [&] {
          const std::string n = server->ask({"PUBSUB", "NUMSUB", channel});
          return n.find(":0\r\n") == std::string::npos && n.find(':') != std::string::npos;
        },
        long_time);
  }
  // How many stand in RFairLock's line.
  bool in_line(std::size_t n) const {
    return eventually(
        [&] {
          return server->ask({"LLEN", "redisson_lock_queue:{" + name + "}"}) ==
                 ":" + std::to_string(n) + "\r\n";
        },
        long_time);
  }

  inline static std::unique_ptr<redis_server> server;
  inline static std::unique_ptr<peer> java;
  const std::string name = fresh_name();
  client locks{"memory:none"};
};

}  // namespace afar::test
