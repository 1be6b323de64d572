#include "engines/registry.hpp"

#include "unit/engine_fixture.hpp"

#include <gmock/gmock.h>

namespace afar::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class registry : public ::testing::Test {
 protected:
  static spi::url url(std::string scheme, std::string path = "registry_test",
                      std::map<std::string, std::string> options = {}) {
    spi::url u;
    u.printable = scheme + ":" + path;
    u.scheme = std::move(scheme);
    u.path = std::move(path);
    u.options = std::move(options);
    return u;
  }
  std::unique_ptr<spi::engine> open(const spi::url& u) { return engines::open(u, host, never); }
  std::string refusal(const spi::url& u) {
    try {
      open(u);
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), errc::bad_url);
      EXPECT_EQ(e.resource(), u.printable);
      return e.what();
    }
    return "it opened";
  }

  recording_host host;
};

TEST_F(registry, opens_one_store_per_path) {
  const auto a = open(url("memory"));
  const auto b = open(url("memory"));
  const auto c = open(url("memory", "another"));
  acquire(*a, 1, "x");
  EXPECT_FALSE(acquire(*b, 2, "x").reply.granted);
  EXPECT_TRUE(acquire(*c, 3, "x").reply.granted);
}

TEST_F(registry, opens_wrappers_around_wrappers) {
  const auto plain = open(url("memory"));
  ::testing::internal::CaptureStderr();
  const auto wrapped =
      open(url("traced+faulty+memory", "registry_test", {{"drop", "1"}, {"refuse", "0"}}));
  EXPECT_EQ(acquire(*wrapped, 1, "x").status.code, errc::unknown_outcome);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("planted: the answer was dropped"));
  EXPECT_FALSE(acquire(*plain, 2, "x").reply.granted);
  wrapped->close();
}

TEST_F(registry, names_the_schemes_it_knows) {
  EXPECT_THAT(refusal(url("gopher")),
              AllOf(HasSubstr("\"gopher\""), HasSubstr("memory"), HasSubstr("faulty+")));
  EXPECT_THAT(refusal(url("faulty+gopher")), HasSubstr("\"gopher\""));
  EXPECT_THAT(refusal(url("traced+")), HasSubstr("memory"));
  EXPECT_THAT(refusal(url("")), HasSubstr("memory"));
}

TEST_F(registry, names_the_options_that_a_scheme_knows) {
  EXPECT_THAT(refusal(url("memory", "x", {{"colour", "red"}})),
              AllOf(HasSubstr("\"colour\""), HasSubstr("known: none")));
  EXPECT_THAT(refusal(url("memory", "x", {{"drop", "1"}})), HasSubstr("\"drop\""));
  EXPECT_THAT(refusal(url("faulty+memory", "x", {{"dorp", "1"}})),
              AllOf(HasSubstr("\"dorp\""), HasSubstr("drop, duplicate")));
}

TEST_F(registry, says_which_value_is_wrong) {
  EXPECT_THAT(refusal(url("faulty+memory", "x", {{"drop", "seven"}})),
              AllOf(HasSubstr("drop=seven"), HasSubstr("between 0 and 1")));
}

}  // namespace
}  // namespace afar::test
