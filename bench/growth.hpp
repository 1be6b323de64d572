// Figures of one work at growing sizes, as a curve and as a row: the largest size beside a small one.
#pragma once

#include "report.hpp"
#include "series.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace bench {

class growth {
 public:
  growth(std::string over, std::string what) : over_(std::move(over)), what_(std::move(what)) {}

  void add(std::size_t size, double figure) { sizes_[size].add(figure); }
  const series& at_largest() const { return sizes_.rbegin()->second; }

  // `g`: of the figure at the largest size as a multiple of that at `base`, or at the next size that was measured.
  void tell(report& out, goal g, std::size_t base = 1) const {
    curve c{.over = over_, .what = what_};
    c.points.reserve(sizes_.size());
    for (const auto& [size, figures] : sizes_)
      c.points.push_back({static_cast<double>(size), figures.median(), figures.spread()});
    out.add(c);
    const auto from = sizes_.lower_bound(base);
    const auto& [smallest, low] = from == sizes_.end() ? *sizes_.begin() : *from;
    const auto& [largest, high] = *sizes_.rbegin();
    out.add(compare("growth",
                    over_ + ": " + what_ + ", " + number(static_cast<double>(largest)) + "; " +
                        number(static_cast<double>(smallest)),
                    high, low, g));
  }

 private:
  const std::string over_;
  const std::string what_;
  std::map<std::size_t, series> sizes_;
};

// Flat: what it costs does not depend on the size. Half as much again is left to caches.
inline constexpr goal flat{goal_kind::at_most, 1.5};

}  // namespace bench
