#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace bench {

namespace {

template <class List, class Key>
std::vector<std::string> keys_of(const List& all, Key key) {
  std::vector<std::string> keys;
  for (const auto& one : all)
    if (std::find(keys.begin(), keys.end(), one.*key) == keys.end()) keys.push_back(one.*key);
  return keys;
}

}  // namespace

std::vector<std::string> groups_of(const std::vector<cost>& all) {
  return keys_of(all, &cost::group);
}

std::vector<std::string> things_of(const std::vector<curve>& all) {
  return keys_of(all, &curve::over);
}

std::string table_of_rows(const report& all) {
  std::string text =
      "| id | work | afar | limit or peer | ratio | goal | spread | verdict | detail |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const row& r : all.rows())
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {:.0f} % | {} | {} |\n", r.id, r.what,
                        number(r.afar), number(r.limit), number(r.ratio), sign(r.goal, "≥ ", "≤ "),
                        100 * r.spread, all.verdict(r), r.note);
  return text;
}

std::string table_of_costs(const std::vector<cost>& all, const std::string& group) {
  std::string text =
      "| who | pairs/s | spread | p50 µs | p99 µs | client CPU µs | server CPU µs | commands | "
      "round "
      "trips | operator new | system calls |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const cost& c : all) {
    if (c.group != group) continue;
    text += fmt::format("| {} | {} | {:.0f} % | {} | {} | {} | {} | {} | {} | {} | {} |\n", c.who,
                        number(c.rate), 100 * c.spread, number(c.p50), number(c.p99),
                        number(c.client_us), number(c.server_us), number(c.commands),
                        number(c.trips), number(c.allocations), number(c.calls));
  }
  return text;
}

std::string table_of_curves(const std::vector<curve>& all, const std::string& over) {
  const auto first =
      std::find_if(all.begin(), all.end(), [&](const curve& c) { return c.over == over; });
  std::string text = "| figure |";
  std::string rule = "| --- |";
  for (const point& p : first->points) {
    text += fmt::format(" {} |", number(p.at));
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (const curve& c : all) {
    if (c.over != over) continue;
    text += fmt::format("| {} |", c.what);
    for (const point& p : c.points)
      text += fmt::format(" {} (± {:.0f} %) |", number(p.value), 50 * p.spread);
    text += "\n";
  }
  return text;
}

std::string list_of_skipped(const report& all) {
  std::string text;
  for (const std::string& line : all.skipped()) text += "- " + line + "\n";
  return text;
}

std::string all_tables(const report& all) {
  std::string text = table_of_rows(all);
  for (const std::string& group : groups_of(all.costs()))
    text += "\n" + group + "\n\n" + table_of_costs(all.costs(), group);
  for (const std::string& over : things_of(all.curves()))
    text += "\n" + over + "\n\n" + table_of_curves(all.curves(), over);
  if (!all.skipped().empty()) text += "\nNot measured\n\n" + list_of_skipped(all);
  return text;
}

}  // namespace bench
