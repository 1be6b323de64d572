// What was found, and the tables of it.
#pragma once

#include "series.hpp"

#include <optional>
#include <string>
#include <utility>
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

// What one contender does and what it costs.
struct cost {
  std::string group;  // the rows that it belongs to, the work, the placement
  std::string who;    // and its version
  double rate = 0;    // pairs per second, median
  double spread = 0;
  std::optional<double> p50 = {};  // microseconds of a pair
  std::optional<double> p99 = {};
  std::optional<double> client_us = {};  // processor time per pair
  std::optional<double> server_us = {};
  std::optional<double> commands = {};     // per pair; what a script calls is none
  std::optional<double> trips = {};        // per pair: how often the server had to read
  std::optional<double> allocations = {};  // operator new per pair
  std::optional<double> calls = {};        // system calls of the client per pair
};

struct point {
  double at = 0;
  double value = 0;
  double spread = 0;
};

// How a figure changes while something grows.
struct curve {
  std::string over;  // what grows
  std::string what;  // the engine, the figure, its unit, the placement
  std::vector<point> points = {};
};

// A row of afar against a limit or peer that was measured in the same rounds.
row compare(std::string id, std::string what, const series& afar, const series& limit, goal);

// A figure as a reader wants it.
std::string number(double);
std::string number(const std::optional<double>&);
std::string sign(const goal&, const char* at_least, const char* at_most);

class report {
 public:
  explicit report(int rounds) : rounds_(rounds) {}

  void add(row);
  void add(cost);
  void add(curve);
  void skip(std::string line);  // what could not be measured, and why

  std::string json() const;
  void set_machine(std::string text) { machine_ = std::move(text); }
  const std::string& machine() const noexcept { return machine_; }

  const std::vector<row>& rows() const noexcept { return rows_; }
  const std::vector<cost>& costs() const noexcept { return costs_; }
  const std::vector<curve>& curves() const noexcept { return curves_; }
  const std::vector<std::string>& skipped() const noexcept { return skipped_; }

  std::string verdict(const row&) const;

  // A goal that was reached by chance is not met: too few rounds, or too wide a spread.
  bool met(const row&) const;

 private:
  static constexpr double widest_spread = 0.30;
  static constexpr int fewest_rounds = 7;
  std::vector<row> rows_;
  std::vector<cost> costs_;
  std::vector<curve> curves_;
  std::vector<std::string> skipped_;
  std::string machine_;
  int rounds_;
};

}  // namespace bench
