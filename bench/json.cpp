// The report as JSON.
#include "report.hpp"

#include <fmt/format.h>

#include <string>

namespace bench {

namespace {

// Our texts have nothing worse than quotes in them.
std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string value(const std::optional<double>& v) { return v ? fmt::format("{:.6g}", *v) : "null"; }

std::string of(const report& all, const row& r) {
  const bool goal = r.goal.kind != goal_kind::none;
  return fmt::format(
      R"({{"id": {}, "what": {}, "afar": {}, "limit": {}, "ratio": {}, "goal": {}, "met": {}, "spread": {:.4f}, "note": {}}})",
      quoted(r.id), quoted(r.what), value(r.afar), value(r.limit), value(r.ratio),
      goal ? quoted(sign(r.goal, ">= ", "<= ")) : "null",
      !goal        ? "null"
      : all.met(r) ? "true"
                   : "false",
      r.spread, quoted(r.note));
}

std::string of(const report&, const cost& c) {
  return fmt::format(
      R"({{"group": {}, "who": {}, "rate": {}, "spread": {:.4f}, "p50": {}, "p99": {}, "client_us": {}, "server_us": {}, "commands": {}, "trips": {}, "allocations": {}, "calls": {}}})",
      quoted(c.group), quoted(c.who), value(c.rate), c.spread, value(c.p50), value(c.p99),
      value(c.client_us), value(c.server_us), value(c.commands), value(c.trips),
      value(c.allocations), value(c.calls));
}

std::string of(const report&, const curve& c) {
  std::string points;
  for (const point& p : c.points)
    points += fmt::format(R"({}{{"at": {}, "value": {}, "spread": {:.4f}}})",
                          points.empty() ? "" : ", ", value(p.at), value(p.value), p.spread);
  return fmt::format(R"({{"over": {}, "what": {}, "points": [{}]}})", quoted(c.over),
                     quoted(c.what), points);
}

std::string of(const report&, const std::string& line) { return quoted(line); }

template <class List>
std::string list(const report& all, const List& of_what) {
  std::string text;
  for (const auto& one : of_what) text += (text.empty() ? "\n    " : ",\n    ") + of(all, one);
  return "[" + text + "]";
}

}  // namespace

std::string report::json() const {
  return fmt::format(
      "{{\n  \"machine\": {},\n  \"rounds\": {},\n  \"rows\": {},\n  \"costs\": {},\n"
      "  \"curves\": {},\n  \"skipped\": {}\n}}\n",
      quoted(machine_), rounds_, list(*this, rows_), list(*this, costs_), list(*this, curves_),
      list(*this, skipped_));
}

}  // namespace bench
