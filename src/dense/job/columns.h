// The columns of a dense job, and on which NUMA nodes their memory is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::job {

/// How many of the columns are local: of the `owned` vertices, which come before the partial sums for peers.
std::size_t local_columns(std::span<const std::uint32_t> bounds, std::uint32_t owned);

struct Columns {
  std::vector<std::uint32_t> bounds;  ///< one more than there are columns
  std::vector<int> memory_nodes;      ///< [column]: os_index
  std::vector<int> nodes;             ///< [local column]: index of a node
  std::vector<int> worker_nodes;      ///< [worker]: os_index
  std::vector<int> all_nodes;         ///< of the workers, each once: os_index
  /// Stretches of owned vertices by index: vertices [stretch_ends[i - 1], stretch_ends[i]) belong to node
  /// stretch_nodes[i] (os_index).
  std::vector<std::uint32_t> stretch_ends;
  std::vector<int> stretch_nodes;

  std::size_t local() const noexcept { return nodes.size(); }
};

/// Cuts the local columns into a stretch for each node, with the part of the edges that its workers are of
/// all workers: vertices that a node's workers write then share pages with no others, but at the stretch's
/// ends. Columns of sums for peers go to the nodes of the workers in turn. `edges`: [column].
Columns spread_columns(std::vector<std::uint32_t> bounds, std::uint32_t owned,
                       std::span<const std::uint64_t> edges, const topology::Placement& placement,
                       const topology::Machine& machine);

}  // namespace edgewire::job
