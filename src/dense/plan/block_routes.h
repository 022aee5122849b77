// This file decides who computes the edges of a block: the process that holds it, or the owner of one of
// their ends. It then has the edges that a process computes, and the values that it exchanges for them. The
// dense/plan folder does no communication: the caller carries the messages, which are lists of words as wide
// as a global id.
#pragma once

#include <cstdint>
#include <vector>

#include "dense/plan/block_edges.h"
#include "dense/plan/volume.h"
#include "partition/ownership.h"

namespace edgewire::plan {

/// The ways in which the values of a block's edges travel. An edge (u, v) that process h computes needs a
/// mirror of u at h, unless h owns u, and a partial sum for v from h, unless h owns v.
enum class Route {
  holder,  ///< lets the holder of the block computes all of its edges (strategy `slots`)
  direct,  ///< lets the owner of the source or of the destination compute an edge (strategy `cover`)
  /// Does as `direct`, but for the dense core of the block, which its holder computes (strategy `cover`).
  mixed
};
/// Returns the routes that a strategy chooses from, by the values that all blocks need together. The first
/// one is taken where they need the same.
std::vector<Route> routes_of(Strategy strategy);

/// The processes that compute the edges of a block, and the values that they need.
struct RoutedBlock {
  /// The process that computes each edge of the block.
  std::vector<std::uint16_t> computed_by;
  /// Number of mirrors and partial sums that these edges need, each counted once.
  std::uint64_t values = 0;
};

/// Decides who computes the edges that process `holder` holds.
///
/// Between the owner x of a source and the owner y of a destination, an edge needs the mirror of its source
/// at y or the partial sum for its destination from x. The edges of a pair (x, y) are a bipartite graph, so
/// the fewest values are a minimum vertex cover (dense/plan/cover.h). Instead, an edge can take two steps:
/// the mirror to the holder, and the partial sum from the holder. These values are shared with all such edges
/// of the vertex in the block. So `mixed` takes for two steps the edges of the block's 2-core: the largest
/// set in which each source and each destination has at least two edges, or is the holder's own (Seidman:
/// Network structure and minimum degree, Social Networks 5, 1983). All others are `direct`. This never needs
/// more values than `holder`: a vertex with one edge, which the core leaves out, saves its value, and costs
/// one at most.
///
/// In a grid the values of different blocks have nothing in common, so that their sum is what all processes
/// send. On the Hilbert curve two blocks may need the same value, which then travels once.
RoutedBlock route_block(const BlockEdges& edges, const partition::Ownership& owners, std::uint32_t holder,
                        Route route);

/// A message in words.
using Words = std::vector<PlainId>;

/// Returns the edges of the block that each process computes.
std::vector<BlockEdges> split(const BlockEdges& block, const RoutedBlock& routed, std::size_t processes);
/// Packs edges that go to the process that computes them.
Words pack(const BlockEdges& edges);
/// Unpacks edges. `vertices`: of the graph. Throws Error that names the sender when the words are wrong.
BlockEdges unpack(const Words& words, bool weighted, std::size_t sender, std::uint64_t vertices);

/// The values that a process sends and gets. All lists ascend, and have vertices of the owner.
struct PeerLists {
  std::vector<VertexId> mirrors_to, mirrors_from;  ///< sources
  std::vector<VertexId> sums_to, sums_from;        ///< destinations
};

/// Returns, for each peer, the values that `rank` needs from it (mirrors_from) and has for it (sums_to), to
/// compute `edges`. The other lists are empty.
std::vector<PeerLists> lists_for(const BlockEdges& edges, const partition::Ownership& owners,
                                 std::uint32_t rank);
/// Packs mirrors_from and sums_to for a peer.
Words announce(const PeerLists& lists, const partition::Ownership& owners);
/// Sets mirrors_to and sums_from to what `peer` has announced to `rank`. Throws Error that names the peer
/// when the words are wrong.
void take_announced(PeerLists& lists, const Words& words, const partition::Ownership& owners,
                    std::uint32_t rank, std::size_t peer);

}  // namespace edgewire::plan
