// The fewest values that cover all edges from one process to another: a minimum vertex cover.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "edgewire/numbering.h"

namespace edgewire::plan {

/// The edges from one vertex of process p to the vertices of process q. There is at least one edge. Duplicate
/// edges do no harm.
struct PairRow {
  const LocalNumber* targets = nullptr;
  std::uint32_t edges = 0;
  LocalNumber source{};

  std::span<const LocalNumber> span() const noexcept { return {targets, edges}; }
};

/// The edges from the vertices of a process p to those of a process q. Each side has fewer than 2^32 - 1
/// vertices.
struct PairEdges {
  std::vector<std::span<const PairRow>> parts;  ///< parts of the rows, by source
  std::uint32_t sources = 0;                    ///< number of vertices of p, with or without a row
  std::uint32_t destinations = 0;               ///< number of vertices of q
};

/// A cover: for each edge, its source is among the mirrors or its destination among the sums (the partial
/// sums that are sent), or both.
struct PairCover {
  std::vector<LocalNumber> mirrors;  ///< sources, ascending
  std::vector<LocalNumber> sums;     ///< destinations, ascending
  /// Number of edges without a common end that were found. No cover has fewer values than this.
  std::uint64_t matching = 0;
  // count_moved() or PairCovers sets these:
  /// Number of edges with only their source in the cover: the receiver computes them.
  std::uint64_t moved_edges = 0;
  /// Number of edges with both ends in the cover: either process can compute them.
  std::uint64_t free_edges = 0;

  std::uint64_t values() const noexcept { return mirrors.size() + sums.size(); }
};

/// Computes a maximum matching and from it, by Koenig's theorem, a minimum vertex cover. The cover never has
/// more values than there are sources, or destinations. It takes four steps:
/// 1. Leaves. A source with a single destination is a leaf. Some minimum cover contains that destination,
///    which then covers all its edges, so other sources become leaves (Karp and Sipser: Maximum matchings in
///    sparse random graphs, 1981). On skewed graphs this finishes five of six sources.
/// 2. Match the other sources greedily.
/// 3. One round of depth-first searches with lookahead from the unmatched sources (Pothen and Fan: Computing
///    the block triangular form of a sparse matrix, 1990). If a search fails and has touched no other search,
///    no vertex that it visited can be on an augmenting path, so these vertices are never visited again.
/// 4. More such rounds for the sources whose searches are still open. If a round finds nothing, the matching
///    is maximum.
/// The vertices that failed searches visited are Koenig's alternating trees. If the rounds run out, the open
/// sources go into the cover. It is then still a cover, and the gap is at most their number.
///
/// `max_rounds`: the most rounds; none: 4, or as many as look at 2^24 edges. On the skewed graphs that were
/// tried one or two rounds are enough. On large random graphs with two to three edges a vertex, the gap is
/// 2 % after the first round, 1.5 % after the fourth and 1.2 % after the eighth.
///
/// Time: O(edges x rounds). Serial and deterministic. Memory beside the result: at most 32 bytes for each
/// row, 8 for each destination, and two bits for each vertex. Throws Error when there is no memory.
PairCover minimum_cover(const PairEdges& edges, std::optional<std::uint32_t> max_rounds = {});

/// Sets cover.moved_edges and cover.free_edges.
void count_moved(const PairEdges& edges, PairCover& cover);

}  // namespace edgewire::plan
