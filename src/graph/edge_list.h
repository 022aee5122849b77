// Edges in memory whose vertices are not known before the last one has been read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/block_pool.h"
#include "graph/builder.h"
#include "graph/weight_list.h"

namespace edgewire::graph {

/// Whether so few of `ids` ids can have edges that vertices for all of them would mostly be a waste of
/// memory. Small graphs are never sparse.
constexpr bool are_sparse(std::uint64_t ids, std::uint64_t edges) {
  return ids > (1U << 20) && ids / 16 > edges;
}

/// Edges with 64-bit ids, in chunks: 8 bytes an edge where the ids of a chunk fit 32 bits, else 16; 4 more
/// with weights, 8 where a chunk has some that need them.
class EdgeList {
 public:
  explicit EdgeList(int workers) : chunks_(static_cast<std::size_t>(workers)) {}

  /// Each worker calls these for itself. `ids` holds source and target of each edge.
  void add(int worker, std::span<const std::uint64_t> ids, Weights weights);
  void add(int worker, std::span<const std::uint32_t> ids, Weights weights = {});
  /// Vertices that exist whether they have edges or not, each twice.
  void add_vertices(int worker, std::span<const std::uint64_t> ids);

  enum class Numbering {
    given,  ///< the vertices are 0 to the largest id; dense where ids are sparse
    dense   ///< the vertices are the ids that occur, in ascending order
  };
  /// Writes the graph and leaves the list empty. Takes all ids as they are with `options.keep_ids`. Throws
  /// Error.
  BuildSummary build(OutputFile& output, Numbering numbering, const BuildOptions& options,
                     const Progress& progress);

 private:
  struct Chunk {
    PooledNumbers<std::uint32_t> narrow;  // one of the two is empty
    std::vector<std::uint64_t> wide;
    PackedWeights weights;
    std::uint64_t first_id = 0, max_id = 0;
    bool vertices = false;  ///< no edges, see add_vertices

    void keep(Weights some);
  };
  std::shared_ptr<BlockPool> pool_ = std::make_shared<BlockPool>();
  std::vector<std::vector<Chunk>> chunks_;  // [worker]
};

}  // namespace edgewire::graph
