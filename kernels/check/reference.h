// The reference of `--verify` for the dense kernels: plain sequential code finds the result in long double,
// and the most that rounding can change a right one at each vertex. docs/pagerank.md derives these limits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dense/plan/volume.h"
#include "edgewire/graph.h"
#include "kernels/pagerank.h"
#include "kernels/ppr.h"

namespace edgewire::kernels {

/// The roundings of a run's messages. Accumulators and values are doubles in all runs.
struct Rounding {
  bool doubles = false;  ///< whether messages are doubles, otherwise floats
  /// The encoding of values between processes; it matters only whether it has 16 bits.
  plan::Encoding wire = plan::Encoding::f32;
  /// Number of legs on which a value travels: 2 where processes own edges (mirror, partial sum).
  int legs = 1;
};

struct Reference {
  std::vector<double> values;  ///< values by vertex
  /// The scales by vertex: relative errors are parts of this number. It is the magnitude of the value, and
  /// greater where terms of both signs cancel.
  std::vector<double> scales;
  std::vector<double> limits;     ///< most by which the value of a right result differs from `values`
  std::uint64_t longest_sum = 0;  ///< most edges that lead to one vertex
  /// The text of the limits, where a caller sets them; empty: the most that rounding can do.
  std::string tolerance{};
};

/// Returns the ranks after `iterations` by power iteration. `restarts`: those of personalised ranks; without
/// vertices: ranks of all vertices. Takes 88 bytes for each vertex, with 16 bits on the wire up to 104.
Reference reference_ranks(const Graph& graph, const PageRankOptions& options, int iterations,
                          const Restarts& restarts, const Rounding& rounding);

/// Returns A^k x (see Spmv). The scales are |A|^k |x|.
Reference reference_spmv(const Graph& graph, std::span<const double> x, int iterations,
                         const Rounding& rounding);

/// Returns the most that rounded messages can change a result in sum, relative to the sum of all values. Sums
/// of doubles add to it (see longest_sum), and so do values below the smallest normal float.
double message_bound(const Graph& graph, const PageRankOptions& options, int iterations,
                     const Rounding& rounding);
double spmv_message_bound(int iterations, const Rounding& rounding);

/// The difference between a result and the reference.
struct Comparison {
  double sum_error = 0, sum_limit = 0;  ///< sum of all differences, of all limits, / sum of all scales
  /// The largest difference and the largest limit, relative to the scale, where the scale is a normal number.
  double largest_error = 0, largest_limit = 0;
  double limit_share = 0;  ///< largest difference / limit of any vertex; NaN where a value is NaN
  VertexId farthest{};     ///< vertex with this share
  /// Number of these vertices whose limit is not below their scale: the comparison shows nothing for them.
  std::uint64_t unchecked = 0;
  bool conclusive = true;  ///< whether sum_limit is below 1; else the comparison shows nothing
  bool passed() const { return limit_share <= 1 && conclusive; }
};
Comparison compare(const Reference& expected, std::span<const double> values, const Rounding& rounding);

}  // namespace edgewire::kernels
