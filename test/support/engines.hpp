// The engines that the conformance suite runs over: those of AFAR_TEST_URLS (separated by spaces),
// else all that can be had here. "{temp}" in a URL stands for a folder of this test run, "{redis}" and
// the other words of support/redis_places.hpp, "{zookeeper}" and "{zookeeper3}", "{mysql}" and "{postgresql}"
// for the address of servers
// that it starts.
#pragma once

#include <afar/client.hpp>
#include <afar/error.hpp>
#include <afar/fair_mutex.hpp>

#include <gtest/gtest.h>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace afar::test {

struct engine {
  std::string name;  // in test names: the URL's scheme, and its layout
  std::string url;
};
void PrintTo(const engine&, std::ostream*);

const std::vector<engine>& engines();

// Connects to an engine; `query` ("lease=1s&prefix=x") is added to its URL.
client connect(const engine&, client_options = {}, std::string_view query = {});

// A name that no other test, process or earlier run has used.
std::string fresh_name(std::string_view what = {});

// Skips the running test if make() throws errc::unsupported. Call it last in SetUp.
template <class Make>
void skip_if_unsupported(const engine& where, std::string_view kind, Make make) {
  try {
    make();
  } catch (const lock_error& e) {
    if (e.code() != errc::unsupported) throw;
    GTEST_SKIP() << "engine " << where.name << " has no " << kind;
  }
}

// A test that runs over every engine, with two clients at hand.
class engine_test : public ::testing::TestWithParam<engine> {
 protected:
  client connect(client_options o = {}, std::string_view query = {}) const {
    return test::connect(GetParam(), std::move(o), query);
  }

  // Skips the test if the engine cannot make this primitive.
  template <class Primitive, class... Args>
  void need(std::string_view kind, const Args&... args) {
    skip_if_unsupported(GetParam(), kind, [&] { Primitive{one, fresh_name(), args...}; });
  }

  // For a test that needs more than its suite: true, and the test is skipped. `if (lacks<…>(…)) return;`
  template <class Primitive, class... Args>
  [[nodiscard]] bool lacks(std::string_view kind, const Args&... args) {
    need<Primitive>(kind, args...);
    return IsSkipped();
  }
  // Waiters of this engine stand in no line (as those of a quorum).
  [[nodiscard]] bool without_line() { return lacks<fair_mutex>("line"); }

  client one = connect();
  client two = connect();
  const std::string name = fresh_name();
};

inline std::string engine_name(const ::testing::TestParamInfo<engine>& info) {
  return info.param.name;
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): gtest's own macro wants a literal suite name
#define AFAR_FOR_EVERY_ENGINE(suite)                                            \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(afar::test::engines()), \
                           afar::test::engine_name)

}  // namespace afar::test
