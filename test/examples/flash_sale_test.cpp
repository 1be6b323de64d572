// examples/flash_sale on real servers: what its table says, and that it fails when a promise is broken.
#include "support/redis_server.hpp"
#include "support/sql_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace afar::test {
namespace {

using ::testing::HasSubstr;

struct ended {
  int code = -1;
  std::string out;
};

ended run(const std::string& arguments) {
  FILE* const pipe = ::popen((AFAR_FLASH_SALE " " + arguments + " 2>&1").c_str(), "r");
  ended e;
  std::array<char, 4'096> part{};
  while (std::size_t n = std::fread(part.data(), 1, part.size(), pipe))
    e.out.append(part.data(), n);
  e.code = ::pclose(pipe) / 256;
  return e;
}

// The table's numbers by the name of the way: answers/s, orders/s, p99, orders, oversold, twice, no
// stock, lost, late, killed, stalled.
std::map<std::string, std::vector<double>> table_of(const std::string& out) {
  std::map<std::string, std::vector<double>> table;
  std::istringstream lines{out};
  for (std::string line; std::getline(lines, line);)
    for (const char* way : {"no protection", "mutex per buyer", "mutex per voucher", "afar::stock"})
      if (line.starts_with(way)) {
        std::istringstream numbers{line.substr(std::string{way}.size())};
        for (double n = 0; numbers >> n;) table[way].push_back(n);
      }
  return table;
}

struct places {
  std::string name;
  std::function<std::string()> arguments;
};

const redis_server& redis() {
  static const redis_server one;
  return one;
}
const sql_server& mariadb() {
  static const sql_server one{database::mariadb};
  return one;
}
const sql_server& postgresql() {
  static const sql_server one{database::postgresql};
  return one;
}

class flash_sales : public ::testing::TestWithParam<places> {};

TEST_P(flash_sales, keep_every_promise_though_workers_are_killed_and_stopped) {
  const ended e = run(GetParam().arguments() + " --buyers 1000 --units 200 --kills 3 --stalls 1");
  EXPECT_EQ(e.code, 0) << e.out;
  EXPECT_THAT(e.out, HasSubstr("each way says: not open yet, over, sold out, already bought"));
  const auto table = table_of(e.out);
  ASSERT_EQ(table.size(), 4U) << e.out;
  for (const auto& [way, n] : table) {
    ASSERT_EQ(n.size(), 11U) << e.out;
    EXPECT_EQ(n[9] + n[10], 4) << way << ": nobody was killed or stopped in time\n" << e.out;
    if (way == "no protection") continue;
    EXPECT_EQ(n[3], 2 * 200) << e.out;
    for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(n[i], 0) << e.out;
  }
  EXPECT_GT(table.at("no protection")[4], 0) << "it was not the protection that helped\n" << e.out;
}

INSTANTIATE_TEST_SUITE_P(
    , flash_sales,
    ::testing::Values(
        places{"no_server", [] { return std::string{}; }},
        places{"redis_and_mariadb",
               [] { return "--stock-url " + redis().url() + " --orders-url " + mariadb().url(); }},
        places{
            "redis_and_postgresql",
            [] { return "--stock-url " + redis().url() + " --orders-url " + postgresql().url(); }},
        places{
            "mariadb_alone",
            [] { return "--stock-url " + mariadb().url() + " --orders-url " + mariadb().url(); }},
        places{"postgresql_alone",
               [] {
                 return "--stock-url " + postgresql().url() + " --orders-url " + postgresql().url();
               }}),
    [](const auto& of) { return of.param.name; });

TEST(flash_sale, tells_what_is_wrong_with_its_arguments) {
  EXPECT_EQ(run("--buyers none").code, 64);
  EXPECT_EQ(run("--buyers").code, 64);
  EXPECT_EQ(run("--colour red").code, 64);
  EXPECT_THAT(run("--help").out, HasSubstr("--orders-url"));
  const ended e = run("--orders-url oracle://x");
  EXPECT_EQ(e.code, 1);
  EXPECT_THAT(e.out, HasSubstr("mysql://"));
}

}  // namespace
}  // namespace afar::test
