// Single-source shortest paths by delta stepping (Meyer, Sanders: "Delta-stepping: a parallelizable shortest
// path algorithm", 2003). Vertices are followed in buckets of distances [i * delta, (i + 1) * delta).
// Distances are floats, summed along a path in its order, so they are the same in every run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "error.h"
#include "frontier/settle.h"

namespace edgewire::kernels {

struct Sssp {
  using Value = float;

  /// Chooses `delta` where it is 0, by usual_delta(). `unit_weights`: each edge has weight 1. Collective.
  /// Throws UsageError when an option makes no sense, and Error when the job's edges have no weights, or a
  /// negative one.
  explicit Sssp(frontier::FrontierJob& job, double delta = 0, bool unit_weights = false);

  static float unreached() { return std::numeric_limits<float>::infinity(); }
  bool weighted() const { return !unit_weights; }
  template <class Weight>
  static float along(float distance, Weight weight) {
    const float sum = distance + static_cast<float>(weight);
    if (std::isinf(sum))
      throw Error("a distance is greater than a float can be (3.4e38): divide the weights");
    return sum;
  }
  /// Clamped where distances are so many times delta that only their order counts.
  std::uint64_t bucket(float distance) const {
    return static_cast<std::uint64_t>(std::min(static_cast<double>(distance) / delta, 0x1p62));
  }

  double delta;
  bool unit_weights;
};

/// What delta is when nobody chooses it: a quarter of average weight / average degree. Meyer and Sanders show
/// that with delta in proportion to this quotient vertices are followed few times and buckets are few, too.
/// On Kronecker graphs a quarter of it follows half as many edges as all of it. 1 where that is no positive
/// number.
inline double usual_delta(double weight_sum, std::uint64_t edges, std::uint64_t vertices) {
  const double edge_count = static_cast<double>(edges);
  const double degree = edge_count / static_cast<double>(vertices);
  const double delta = weight_sum / edge_count / degree / 4;
  return delta > 0 && std::isfinite(delta) ? delta : 1;
}

}  // namespace edgewire::kernels

extern template class edgewire::frontier::Settling<edgewire::kernels::Sssp>;
