// The table that is printed and the JSON beside it.
#pragma once

#include "series.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

enum class goal_kind { none, at_least, at_most };

struct goal {
  goal_kind kind = goal_kind::none;
  double value = 0;
};

struct row {
  std::string id;
  std::string what;  // the work, the unit, the placement, the peer
  double afar = 0;   // median
  std::optional<double> limit = {};
  std::optional<double> ratio = {};  // median of the rounds' ratios; none: the goal is on `afar`
  bench::goal goal = {};
  double spread = 0;  // of what the goal is on
  std::string note = {};
};

// A row of afar against a limit or peer that was measured in the same rounds.
row compare(std::string id, std::string what, const series& afar, const series& limit, goal);

class report {
 public:
  explicit report(int rounds) : rounds_(rounds) {}

  void add(row);
  void print() const;
  void write_json(const std::string& file) const;

  // A goal that was reached by chance is not met: too few rounds, or too wide a spread.
  bool met(const row&) const;

 private:
  static constexpr double widest_spread = 0.30;
  static constexpr int fewest_rounds = 7;
  std::string verdict(const row&) const;
  std::vector<row> rows_;
  int rounds_;
};

}  // namespace bench
