// What a kernel's result is compared with, and how near it has to be.
#pragma once

#include <vector>

namespace edgewire::kernels {

/// The result by plain sequential code.
struct Reference {
  std::vector<double> values;  ///< by vertex
  /// What errors are measured against, by vertex; empty: the values.
  std::vector<double> scales;
};

/// Most that rounding can change a result.
struct ErrorBound {
  double in_sum = 0;  ///< sum of all changes / sum of all values
  double vertex = 0;  ///< of any value, relative to it; infinite where values travel in 16 bits
};

}  // namespace edgewire::kernels
