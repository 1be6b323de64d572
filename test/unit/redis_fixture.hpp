// Engines on a real redis-server, driven step by step.
#pragma once

#include "core/url.hpp"
#include "engine_fixture.hpp"
#include "engines/registry.hpp"
#include "support/patience.hpp"
#include "support/redis_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace afar::test {

inline std::unique_ptr<spi::engine> open_engine(const std::string& url, spi::host& up) {
  return engines::open(detail::parse_url(url), up, boot_clock::now() + 5s);
}

// One server for a whole suite; every test has names of its own.
class redis_test : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<redis_server>(); }
  static void TearDownTestSuite() { server.reset(); }

  inline static std::unique_ptr<redis_server> server;
  const std::string name =
      std::string{::testing::UnitTest::GetInstance()->current_test_info()->name()};
  recording_host up;
  std::unique_ptr<spi::engine> engine = open_engine(server->url(), up);

  // Whether the engine has told of this claim's grant.
  bool told(std::uint64_t n) {
    return eventually([&] { return up.grant_of(owner(n)).granted; });
  }
  std::size_t keys_like(const std::string& pattern) const {
    const std::string all = server->ask({"KEYS", pattern});
    return all.starts_with("*") ? std::stoul(all.substr(1)) : 0;
  }
};

}  // namespace afar::test
