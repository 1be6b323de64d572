// Spans of time, as the rules need them.
#pragma once

#include "torture/check.hpp"

#include <cstdint>
#include <vector>

namespace afar::torture {

// Sorted, without overlaps.
std::vector<span_of_time> merged(std::vector<span_of_time>);
// What is left of a span without these, which are merged.
std::vector<span_of_time> without(span_of_time, const std::vector<span_of_time>&);
// How much of [from, to) these spans cover.
std::int64_t covered(const std::vector<span_of_time>&, std::int64_t from, std::int64_t to);

// When this process could not run, merged.
std::vector<span_of_time> stalls_of(const evidence&, const life&);

}  // namespace afar::torture
