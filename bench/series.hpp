// What many rounds of one measurement say: a median and how far to trust it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

class series {
 public:
  series() = default;
  explicit series(std::vector<double> values) : values_(std::move(values)) {}

  void add(double v) { values_.push_back(v); }
  bool empty() const noexcept { return values_.empty(); }
  std::size_t size() const noexcept { return values_.size(); }

  // Between neighbours by proportion; 0 if there is nothing.
  double quantile(double q) const {
    if (values_.empty()) return 0;
    std::vector<double> v = values_;
    std::sort(v.begin(), v.end());
    const double at = q * static_cast<double>(v.size() - 1);
    const auto low = static_cast<std::size_t>(std::floor(at));
    const std::size_t high = std::min(low + 1, v.size() - 1);
    return v[low] + (v[high] - v[low]) * (at - static_cast<double>(low));
  }
  double median() const { return quantile(0.5); }
  double min() const { return quantile(0); }
  double max() const { return quantile(1); }

  // (p75 - p25) / median: one disturbed round of seven does not count, two do.
  double spread() const {
    const double m = median();
    return m == 0 ? 0 : (quantile(0.75) - quantile(0.25)) / m;
  }

  // Round by round, so that what disturbs a whole round cancels out.
  series over(const series& other) const {
    series ratios;
    for (std::size_t i = 0; i < std::min(size(), other.size()); ++i)
      ratios.add(values_[i] / other.values_[i]);
    return ratios;
  }

 private:
  std::vector<double> values_;
};

}  // namespace bench
