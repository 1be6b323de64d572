// The report as tables in Markdown.
#pragma once

#include "report.hpp"

#include <string>
#include <vector>

namespace bench {

std::vector<std::string> groups_of(const std::vector<cost>&);   // each once, as they came
std::vector<std::string> things_of(const std::vector<curve>&);  // what grows

std::string table_of_rows(const report&);
std::string table_of_costs(const std::vector<cost>&, const std::string& group);
// A line for each curve, a column for each size.
std::string table_of_curves(const std::vector<curve>&, const std::string& over);
std::string list_of_skipped(const report&);

std::string all_tables(const report&);

}  // namespace bench
