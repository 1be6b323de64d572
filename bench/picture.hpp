// The report as pictures (SVG), for a document.
#pragma once

#include "report.hpp"

#include <string>
#include <vector>

namespace bench {

// A bar for every row with a goal: how far it is on the good side of it. Empty if there is none.
std::string picture_of_goals(const report&);
// A bar for every contender of a group.
std::string picture_of_costs(const std::vector<cost>&, const std::string& group);
// All curves over the same thing, each as multiples of its value at the smallest size.
std::string picture_of_curves(const std::vector<curve>&, const std::string& over);

}  // namespace bench
