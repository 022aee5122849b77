#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace edgewire {

/// Returns the middle value, or the mean of the two there. `values` ascend; there is at least one.
inline double median_of_sorted(std::span<const double> values) {
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// Does the same as median_of_sorted(), for values in any order.
inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return median_of_sorted(values);
}

}  // namespace edgewire
