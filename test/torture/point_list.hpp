// The fault points of test/fault_points.txt.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace afar::test {

inline std::vector<std::string> listed_points() {
  std::vector<std::string> all;
  std::ifstream file{AFAR_SOURCE "/test/fault_points.txt"};
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && !line.starts_with('#')) all.push_back(line);
  return all;
}

}  // namespace afar::test
