// Single-source shortest paths by delta stepping (Meyer, Sanders: "Delta-stepping: a parallelizable shortest
// path algorithm", 2003). Vertices are followed in buckets of distances [i * delta, (i + 1) * delta).
// Weights are added along a path in its order, so distances are the same in every run. What rounding does to
// them: docs/sssp.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "frontier/frontier_job.h"

namespace edgewire::kernels {

/// The program of shortest paths. `Distance`: float, double, or std::uint64_t, which adds whole weights
/// exactly.
template <class Distance = double>
struct Sssp {
  static constexpr bool kWhole = std::is_integral_v<Distance>;
  using Limits = std::numeric_limits<Distance>;

  /// Makes the program. Chooses `delta` where it is 0, by usual_delta(). `unit_weights`: whether each edge
  /// has weight 1. Collective. Throws UsageError when an option makes no sense, and Error when the job's
  /// edges have no weights, a negative one, or weights that are not whole where distances are.
  explicit Sssp(frontier::Job& job, double delta = 0, bool unit_weights = false);

  static constexpr Distance unreached() { return kWhole ? Limits::max() : Limits::infinity(); }
  /// Returns the value of sums that are greater than a distance can be. Any addition leaves it.
  static constexpr Distance too_long() { return kWhole ? Limits::max() - 1 : Limits::max(); }
  bool weighted() const { return !unit_weights; }
  template <class Weight>
  static Distance along(Distance distance, Weight weight) {
    if constexpr (!kWhole) {
      return std::min(distance + static_cast<Distance>(weight), too_long());
    } else if constexpr (std::is_integral_v<Weight>) {
      const Distance sum = distance + weight;
      return sum < distance ? too_long() : std::min(sum, too_long());
    } else {
      return too_long();  // not called: the constructor has refused such weights
    }
  }
  /// Returns the bucket, clamped where distances are so many times delta that only their order counts.
  std::uint64_t bucket(Distance distance) const {
    return static_cast<std::uint64_t>(std::min(static_cast<double>(distance) * buckets_a_unit, 0x1p62));
  }
  /// Throws Error that says that a shortest path to this vertex is too long for the type.
  [[noreturn]] void refuse(const Graph& graph, VertexId vertex) const;

  double delta;
  bool unit_weights;
  double buckets_a_unit;  ///< number of buckets in a unit: 1 / delta
};

/// Returns the default of delta: a quarter of average weight / average degree. Meyer and Sanders show that
/// with delta in proportion to this quotient vertices are followed few times and buckets are few, too. On
/// Kronecker graphs a quarter of it follows half as many edges as all of it. It is 1 where that is no
/// positive number.
inline double usual_delta(double weight_sum, std::uint64_t edges, std::uint64_t vertices) {
  const double edge_count = static_cast<double>(edges);
  const double degree = edge_count / static_cast<double>(vertices);
  const double delta = weight_sum / edge_count / degree / 4;
  return delta > 0 && std::isfinite(delta) ? delta : 1;
}

/// Returns, by vertex, the vertex before it on a shortest path from `source`, kNoVertex where none leads; the
/// source is its own. Of several it is the smallest one on a path of the fewest edges. `distances`:
/// those of all vertices, as DeltaStepping finds them. Takes one thread, and 8 bytes for each vertex.
/// Throws Error when the graph file is damaged.
template <class Distance>
std::vector<PlainId> find_parents(const Graph& graph, VertexId source, std::span<const Distance> distances,
                                  bool unit_weights);

extern template struct Sssp<float>;
extern template struct Sssp<double>;
extern template struct Sssp<std::uint64_t>;

}  // namespace edgewire::kernels
