#include "torture/spans.hpp"

#include <algorithm>

namespace afar::torture {

std::vector<span_of_time> merged(std::vector<span_of_time> all) {
  std::ranges::sort(all, {}, &span_of_time::from);
  std::vector<span_of_time> out;
  for (const span_of_time& s : all)
    if (!out.empty() && s.from <= out.back().to)
      out.back().to = std::max(out.back().to, s.to);
    else
      out.push_back(s);
  return out;
}

std::int64_t covered(const std::vector<span_of_time>& spans, std::int64_t from, std::int64_t to) {
  std::int64_t sum = 0;
  for (const span_of_time& s : spans)
    sum += std::max<std::int64_t>(0, std::min(s.to, to) - std::max(s.from, from));
  return sum;
}

std::vector<span_of_time> without(span_of_time s, const std::vector<span_of_time>& these) {
  std::vector<span_of_time> left;
  for (const span_of_time& t : these) {
    if (t.to <= s.from || t.from >= s.to) continue;
    if (t.from > s.from) left.push_back({s.from, t.from});
    s.from = t.to;
    if (s.from >= s.to) return left;
  }
  left.push_back(s);
  return left;
}

std::vector<span_of_time> stalls_of(const evidence& e, const life& l) {
  std::vector<span_of_time> all;
  for (const fact& f : l.facts)
    if (f.what == act::stalled) all.push_back({f.until, f.at});
  for (const stop_made& s : e.stops)
    if (s.worker == l.worker && s.life == l.number) all.push_back(s.when);
  return merged(std::move(all));
}

}  // namespace afar::torture
