// The edges that leave a process, by the peer to which they go.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "dense/plan/cover.h"
#include "dense/plan/owner_filter.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "topology/memory.h"

namespace edgewire::plan {

/// A copy of these edges. It takes up to 6 bytes for each edge and 16 for each source and peer.
class PairRows {
 public:
  /// `owned_edges`: number of edges of the vertices of `rank`. `workers`: those of for_each. Throws Error.
  PairRows(partition::OwnedRows rows, const partition::Ownership& ownership, int rank,
           std::uint64_t owned_edges, int workers, const ForEach& for_each);
  /// The edges that go to the peer; none for this rank. The result points into this object.
  PairEdges edges(std::uint32_t peer) const;

 private:
  struct Worker {
    std::vector<LocalNumber*> next, end;  ///< [peer]: what is free of its chunk
    std::vector<LocalNumber> inside;      ///< edges between owned vertices, which are not needed
    std::vector<PairRow> rows;            ///< [peer * group_ + number]: rows of the current group
  };
  LocalNumber* take(std::uint64_t edges) noexcept;
  void split(Worker& worker, std::uint64_t group);

  partition::OwnedRows owned_;
  const partition::Ownership& ownership_;
  OwnerFilter filter_;
  std::uint32_t rank_, rows_;
  std::size_t processes_;
  std::uint32_t group_;  ///< rows that a worker takes at a time
  std::size_t groups_;
  std::vector<Worker> workers_;
  std::uint64_t chunk_;           ///< edges
  topology::NodeMemory targets_;  ///< room for all chunks; unused pages are never touched
  std::atomic<std::uint64_t> used_{0};
  std::vector<std::vector<PairRow>> parts_;  ///< [group * processes + peer]
};

}  // namespace edgewire::plan
