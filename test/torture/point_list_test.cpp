#include "torture/point_list.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

namespace afar::test {
namespace {

TEST(fault_points, are_all_listed) {
  std::set<std::string> in_source;
  // Names of the embedded engine's points are in tables.
  const std::regex name{R"(AFAR_FAULT\("([a-z_.]+)\"\)|"(embedded\.[a-z_]+\.[a-z_]+)\")"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator{AFAR_SOURCE "/src"}) {
    if (entry.path().extension() != ".cpp") continue;
    std::ostringstream text;
    text << std::ifstream{entry.path()}.rdbuf();
    const std::string all = text.str();
    if (all.find("AFAR_FAULT(") == std::string::npos) continue;
    for (std::sregex_iterator at{all.begin(), all.end(), name}, end; at != end; ++at)
      in_source.insert((*at)[1].matched ? (*at)[1].str() : (*at)[2].str());
  }
  const auto listed = listed_points();
  const std::set<std::string> in_list{listed.begin(), listed.end()};
  EXPECT_EQ(in_source, in_list);
  EXPECT_GT(in_list.size(), 30U);
}

}  // namespace
}  // namespace afar::test
