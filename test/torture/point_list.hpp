// The fault points of test/fault_points.txt.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace afar::test {

struct listed_point {
  std::string name;
  bool aimed_at = true;  // by torture; else the list says why not
};

inline std::vector<listed_point> listed_points() {
  std::vector<listed_point> all;
  std::ifstream file{AFAR_SOURCE "/test/fault_points.txt"};
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    all.push_back({line.substr(0, line.find(' ')), line.find('#') == std::string::npos});
  }
  return all;
}

}  // namespace afar::test
