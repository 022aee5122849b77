// This file has the edges that a process computes, and the values that it exchanges, when processes own
// blocks of edges: the edges of its block, and those that other processes hand over. The dense/plan folder
// does no communication, so the caller carries the messages, which are lists of words as wide as a global id.
#pragma once

#include <cstdint>
#include <vector>

#include "dense/plan/block_edges.h"
#include "dense/plan/block_routes.h"

namespace edgewire::plan {

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
