// A ZooKeeper server, Curator beside it in the version of the test's parameter, and afar.
#pragma once

#include "../peer.hpp"
#include "support/engines.hpp"
#include "support/raw_zookeeper.hpp"
#include "support/threads.hpp"
#include "support/waiting.hpp"
#include "support/zookeeper_server.hpp"

#include <afar/afar.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace afar::test {

// By a watch: far less than the second after which afar, and the session after which the server, looks
// by itself.
inline constexpr nanoseconds soon = 300ms;

inline constexpr milliseconds peer_session = 6s;  // so much that a busy machine keeps up
// A dead one's nodes go when its session ends; the server counts in ticks, and others keep it busy.
inline constexpr nanoseconds after_session = peer_session + 3s;

inline const std::string debians_curator = "5.4.0";
inline const std::string newer_curator = "5.9.0";

// Names of one segment: what is a name for afar is a path for the others.
inline std::string fresh_segment() {
  std::string n = fresh_name();
  std::ranges::replace(n, '/', '.');
  return n;
}

class curator_base : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<zookeeper_server>(); }
  static void TearDownTestSuite() {
    javas.clear();
    server.reset();
  }
  // False: the test is skipped.
  bool use_java(const std::string& version) {
    version_ = version;
    if (version != debians_curator && peer_file("curator-recipes-" + version + ".jar").empty())
      return false;
    if (!javas[version]) javas[version] = start_java(version, server->address());
    return true;
  }
  peer& java() const { return *javas.at(version_); }
  void kill_java() { javas[version_]->kill(), javas.erase(version_); }

  static std::string classes(const std::string& version) {
    const std::string debian = "/usr/share/java/";
    std::string all = std::filesystem::path{peer_file("CuratorPeer.class")}.parent_path().string();
    if (version == debians_curator) {
      all += ":" + debian + "curator-recipes.jar";  // its manifest names the others
    } else {
      for (const char* part : {"client", "framework", "recipes"})
        all += ":" + peer_file(std::string{"curator-"} + part + "-" + version + ".jar");
      for (const char* of :
           {"zookeeper", "zookeeper-jute", "guava", "slf4j-api", "jackson-databind"})
        all += ":" + debian + of + ".jar";
    }
    return all + ":" + debian + "slf4j-nop.jar";
  }
  static std::unique_ptr<peer> start_java(const std::string& version, const std::string& servers) {
    auto made = std::make_unique<peer>(std::vector<std::string>{
        "java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx128m", "-cp",
        classes(version), "CuratorPeer", servers, std::to_string(peer_session.count())});
    std::cout << "Curator " << made->version() << '\n';
    EXPECT_EQ(made->version(), version);
    return made;
  }

  static std::string url(const std::string& more = {}) {
    return server->url() + "/test?session=6s" + more;
  }
  static std::unique_ptr<peer> start_afar(const std::string& more = {}) {
    return std::make_unique<peer>(std::vector<std::string>{AFAR_PEER, url(more)});
  }

  std::string path(const std::string& below = {}) const { return "/test/" + name + below; }
  std::string of(const std::string& verb_and_kind, const std::string& more = {}) const {
    return verb_and_kind + " " + path() + (more.empty() ? "" : " " + more);
  }
  // As many nodes are there: how one sees that a peer waits.
  bool nodes(std::size_t n, const std::string& below = {}) {
    return eventually([&] { return raw.children(path(below)).size() == n; }, long_time);
  }

  inline static std::unique_ptr<zookeeper_server> server;
  inline static std::map<std::string, std::unique_ptr<peer>> javas;
  const std::string name = fresh_segment();
  client locks{url()};
  raw_zookeeper raw{server->address()};

 private:
  std::string version_;
};

// Over both versions of Curator.
class curator_test : public curator_base, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (!use_java(GetParam())) GTEST_SKIP() << "the registry cannot be reached";
  }
};

inline std::string version_name(const std::string& version) {
  std::string n = "Curator_" + version;
  std::ranges::replace(n, '.', '_');
  return n;
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): gtest's own macro wants a literal suite name
#define AFAR_FOR_BOTH_CURATORS(suite)                                                     \
  INSTANTIATE_TEST_SUITE_P(                                                               \
      , suite, ::testing::Values(afar::test::debians_curator, afar::test::newer_curator), \
      [](const auto& is) { return afar::test::version_name(is.param); })

}  // namespace afar::test
