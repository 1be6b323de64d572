// What the command line asks for.
#pragma once

#include <chrono>
#include <set>
#include <string>

namespace bench {

struct options {
  std::set<std::string> rows = {};  // empty: all
  int rounds = 7;
  double seconds = 2.1;  // measured per contender and row, cut into rounds
  int kills = 100;
  std::string json = {};               // empty: none; "-": standard output
  std::string document = {};           // empty: none
  std::set<std::string> engines = {};  // empty: all
  std::size_t most = 1'000'000;        // where growth ends

  bool wants_engine(const std::string& name) const {
    return engines.empty() || engines.contains(name);
  }
  bool wants(const std::string& id) const { return rows.empty() || rows.contains(id); }
  std::chrono::nanoseconds per_round() const {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9 / rounds));
  }
};

// Prints the usage and ends the process if it cannot be understood.
options parse(int argc, char** argv);

}  // namespace bench
