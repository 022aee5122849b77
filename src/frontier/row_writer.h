#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontier/row_pages.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "topology/worker_pool.h"

namespace edgewire::frontier {

/// The rows of one process, by local number.
struct ProcessRows {
  partition::OwnedRows rows;
  const partition::Ownership& ownership;
  std::uint32_t rank;

  std::uint32_t count() const noexcept { return ownership.count(rank); }
  VertexId vertex(LocalNumber local) const noexcept { return ownership.vertex(rank, local); }
};

/// Encodes rows and writes them to these files, a file on each device; reads the rows twice. Throws Error
/// with the path of what cannot be written, or of a damaged graph.
std::pair<RowIndex, disk::SegmentFiles> write_rows(topology::WorkerPool& pool, const ProcessRows& rows,
                                                   const RowDisks& disks,
                                                   const std::vector<std::string>& paths,
                                                   std::uint64_t generation);

}  // namespace edgewire::frontier
