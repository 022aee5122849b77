// The fewest values that cover all edges from one process to another: a minimum vertex cover.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace edgewire::plan {

/// The edges from one vertex of a process p to those of a process q: local numbers at q. Not empty; duplicate
/// edges are harmless.
struct PairRow {
  const std::uint32_t* targets = nullptr;
  std::uint32_t edges = 0;
  std::uint32_t source = 0;  ///< local number at p

  std::span<const std::uint32_t> span() const noexcept { return {targets, edges}; }
};

/// The edges from the vertices of a process p to those of a process q. Fewer than 2^32 - 1 of each side.
struct PairEdges {
  std::vector<std::span<const PairRow>> parts;  ///< together the rows, by source
  std::uint32_t sources = 0;                    ///< vertices of p, with or without a row
  std::uint32_t destinations = 0;               ///< vertices of q
};

inline constexpr std::uint32_t kUntilMinimum = std::numeric_limits<std::uint32_t>::max();

inline constexpr std::uint32_t kAffordable = kUntilMinimum - 1;  ///< 4, or as many as look at 2^24 edges

struct CoverOptions {
  /// Rounds of search, each of which looks at an edge a few times. They stop by themselves when the cover is
  /// minimum: after one or two on the skewed graphs that were tried. On large random ones with two to three
  /// edges a vertex the first round leaves a gap of 2 %, the fourth one of 1.5 %, the eighth one of 1.2 %.
  std::uint32_t max_rounds = kAffordable;
};

/// Every edge has its source among the mirrors or its destination among the sums (or both).
struct PairCover {
  std::vector<std::uint32_t> mirrors;  ///< local numbers of sources, ascending
  std::vector<std::uint32_t> sums;     ///< local numbers of destinations, ascending
  /// Edges without a common end that were found: no cover has fewer values.
  std::uint64_t matching = 0;
  // Found by count_moved() or PairCovers:
  std::uint64_t moved_edges = 0;  ///< only their source is in the cover: the receiver computes them
  std::uint64_t free_edges = 0;   ///< covered twice: either process can compute them

  std::uint64_t values() const noexcept { return mirrors.size() + sums.size(); }
  /// How far the cover may be from the minimum, as a fraction of it; 0: it is the minimum.
  double gap() const noexcept {
    return static_cast<double>(values() - matching) /
           static_cast<double>(std::max<std::uint64_t>(1, matching));
  }
};

/// A maximum matching and from it, by Koenig's theorem, a minimum vertex cover; never more values than
/// sources or destinations. In four steps:
/// - a source with one destination is a leaf: some minimum cover has that destination, which then covers all
/// its
///   edges, so that other sources become leaves (Karp and Sipser: Maximum matchings in sparse random graphs,
///   1981). On skewed graphs five of six sources are done with then;
/// - match the others greedily;
/// - one round of depth-first searches with lookahead from the sources left over (Pothen and Fan: Computing
///   the block triangular form of a sparse matrix, 1990). A search that fails without meeting another search
///   proves that none of what it saw will ever be on an augmenting path, so it is never looked at again. Most
///   graphs are done here;
/// - more such rounds for the sources whose searches are still open. A round that finds nothing proves that
///   there is nothing left.
/// Koenig's alternating trees are what the failed searches saw. If rounds run out, the open sources go into
/// the cover: it stays a cover, and the gap is their number.
///
/// Time: O(edges x rounds). Serial and deterministic. Memory beside the result: at most 32 bytes for each
/// row, 8 for each destination, and two bits for each vertex. Throws Error when there is no memory.
PairCover minimum_cover(const PairEdges& edges, const CoverOptions& options = {});

/// Fills in moved_edges and free_edges.
void count_moved(const PairEdges& edges, PairCover& cover);

}  // namespace edgewire::plan
