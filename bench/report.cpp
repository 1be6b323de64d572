#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

bool reached(const row& r) {
  const double v = r.ratio.value_or(r.afar);
  return r.goal.kind == goal_kind::at_least ? v >= r.goal.value : v <= r.goal.value;
}

}  // namespace

std::string number(double v) {
  if (v == 0) return "0";
  if (v >= 10'000) return fmt::format("{:.0f}", v);
  return v >= 100 ? fmt::format("{:.0f}", v) : fmt::format("{:.3g}", v);
}

std::string number(const std::optional<double>& v) { return v ? number(*v) : "–"; }

std::string sign(const goal& g, const char* at_least, const char* at_most) {
  switch (g.kind) {
    case goal_kind::none:
      return "";
    case goal_kind::at_least:
      return at_least + number(g.value);
    case goal_kind::at_most:
      return at_most + number(g.value);
  }
  return "";
}

row compare(std::string id, std::string what, const series& afar, const series& limit, goal g) {
  const series ratios = afar.over(limit);
  return {.id = std::move(id),
          .what = std::move(what),
          .afar = afar.median(),
          .limit = limit.median(),
          .ratio = ratios.median(),
          .goal = g,
          .spread = ratios.spread(),
          .note = fmt::format("ratio {:.3g} to {:.3g}; spread {:.0f} % and {:.0f} %", ratios.min(),
                              ratios.max(), 100 * afar.spread(), 100 * limit.spread())};
}

bool report::met(const row& r) const {
  return r.goal.kind != goal_kind::none && rounds_ >= fewest_rounds && r.spread <= widest_spread &&
         reached(r);
}

std::string report::verdict(const row& r) const {
  if (r.goal.kind == goal_kind::none) return "(information)";
  if (met(r)) return "met";
  if (!reached(r)) return "NOT MET";
  return rounds_ < fewest_rounds ? "not met: too few rounds" : "not met: unsteady";
}

void report::add(row r) {
  fmt::print("{} {}: {} / {} = {}\n", r.id, r.what, number(r.afar), number(r.limit),
             number(r.ratio));
  std::fflush(stdout);
  rows_.push_back(std::move(r));
}

void report::add(cost c) {
  fmt::print("{}: {}: {} pairs/s, spread {:.0f} %\n", c.group, c.who, number(c.rate),
             100 * c.spread);
  std::fflush(stdout);
  costs_.push_back(std::move(c));
}

void report::add(curve c) {
  fmt::print("{}, 1 to {}: {} to {}\n", c.what, number(c.points.back().at),
             number(c.points.front().value), number(c.points.back().value));
  std::fflush(stdout);
  curves_.push_back(std::move(c));
}

void report::skip(std::string line) {
  fmt::print("skipped: {}\n", line);
  std::fflush(stdout);
  skipped_.push_back(std::move(line));
}

}  // namespace bench
