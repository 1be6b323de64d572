#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

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

bool reached(const row& r) {
  const double v = r.ratio.value_or(r.afar);
  return r.goal.kind == goal_kind::at_least ? v >= r.goal.value : v <= r.goal.value;
}

// Our texts have nothing worse than quotes in them.
std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string json(const std::optional<double>& v) { return v ? fmt::format("{:.6g}", *v) : "null"; }

}  // namespace

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

void report::print() const {
  fmt::print(
      "\n| id | work | afar | limit or peer | ratio | goal | spread | verdict | detail |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const row& r : rows_)
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.0f} % | {} | {} |\n", r.id, r.what,
               number(r.afar), number(r.limit), number(r.ratio), sign(r.goal, "≥ ", "≤ "),
               100 * r.spread, verdict(r), r.note);
}

void report::write_json(const std::string& file) const {
  std::FILE* out = std::fopen(file.c_str(), "w");
  if (!out) throw std::runtime_error("cannot write " + file);
  fmt::print(out, "[\n");
  for (const row& r : rows_) {
    const char* is_met = r.goal.kind == goal_kind::none ? "null" : met(r) ? "true" : "false";
    fmt::print(out,
               "  {{\"id\": {}, \"what\": {}, \"afar\": {}, \"limit\": {}, \"ratio\": {}, "
               "\"goal\": {}, \"met\": {}, \"spread\": {:.4f}, \"note\": {}}}{}\n",
               quoted(r.id), quoted(r.what), json(r.afar), json(r.limit), json(r.ratio),
               r.goal.kind == goal_kind::none ? "null" : quoted(sign(r.goal, ">= ", "<= ")), is_met,
               r.spread, quoted(r.note), &r == &rows_.back() ? "" : ",");
  }
  fmt::print(out, "]\n");
  std::fclose(out);
}

}  // namespace bench
