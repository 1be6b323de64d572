#include "torture/runs.hpp"

#include "torture/report.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace afar::test {
namespace {

void set_by_environment(torture::settings& s) {
  const auto number = [](const char* name, long usual) {
    const char* const text = std::getenv(name);
    return text ? std::strtol(text, nullptr, 10) : usual;
  };
  s.time = std::chrono::seconds{number("AFAR_TORTURE_SECONDS", 20)};
  s.workers = static_cast<std::uint32_t>(number("AFAR_TORTURE_WORKERS", s.workers));
  if (const char* const seed = std::getenv("AFAR_TORTURE_SEED"))
    s.seed = std::strtoull(seed, nullptr, 10);
}

}  // namespace

torture::verdict torment(torture::settings s) {
  if (s.program == torture::settings{}.program) s.program = AFAR_BINARY;
  set_by_environment(s);
  torture::verdict v = torture::run(s);
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string replay = "AFAR_TORTURE_SEED=" + std::to_string(v.seed) +
                             " AFAR_TORTURE_SECONDS=" + std::to_string(s.time.count() / 1000) +
                             " afar_torture_run_test --gtest_filter='*." + name + "'";
  std::fputs(torture::as_text(v, replay).c_str(), stdout);
  if (const char* folder = std::getenv("AFAR_TORTURE_REPORTS")) {
    std::ofstream{std::string{folder} + "/" + name + ".html"} << torture::as_page(v, replay);
    std::ofstream{std::string{folder} + "/" + name + ".json"} << torture::as_json(v, replay);
  }
  EXPECT_TRUE(v.green());
  return v;
}

}  // namespace afar::test
