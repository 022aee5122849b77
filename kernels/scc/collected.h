#pragma once

#include <cstdint>
#include <vector>

#include "frontier/records.h"

namespace edgewire::kernels {

/// The strongly connected components of the graph of these edges, each from record.vertex to record.value, by
/// one thread (Tarjan: "Depth-first search and linear graph algorithms", 1972), without recursion. Memory: at
/// most 60 bytes for each edge, 92 where ids have 64 bits.
class CollectedComponents {
 public:
  explicit CollectedComponents(std::vector<frontier::Record> edges);

  /// Returns the vertices, ascending.
  const std::vector<PlainId>& vertices() const noexcept { return vertices_; }
  /// Returns the smallest vertex of each one's component, by index in vertices().
  const std::vector<PlainId>& labels() const noexcept { return labels_; }

 private:
  static constexpr std::uint32_t kClosed = 0xffffffff;  ///< number of a vertex whose component is known
  void visit(std::uint32_t root);
  void close(std::uint32_t root);

  std::vector<PlainId> vertices_, labels_;
  std::vector<std::uint32_t> begins_, targets_;  ///< rows by index in vertices_
  std::vector<std::uint32_t> next_;              ///< next entry of a row to follow, [index]
  /// Earliest open vertex that a vertex is known to reach, [index]; 0: not seen.
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> open_;  ///< vertices whose component is not known, in the order of discovery
  std::uint32_t seen_ = 0;
};

}  // namespace edgewire::kernels
