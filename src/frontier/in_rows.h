// The in-edges of the vertices of a process. The file has out-edges only; each process has the whole file, so
// nothing is sent.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_job.h"

namespace edgewire::frontier {

class InRows {
 public:
  /// Reads all targets of the file twice. Memory: 8 bytes for each owned vertex and 4 for each in-edge.
  /// Throws Error when the file is damaged.
  explicit InRows(FrontierJob& job);

  /// The vertices with an edge to the owned vertex `local`, once for each edge, in no order.
  std::span<const VertexId> sources(LocalNumber local) const noexcept {
    const std::uint64_t first = local == 0 ? 0 : ends_[local - 1];
    return std::span(sources_).subspan(first, ends_[local] - first);
  }

 private:
  std::vector<std::uint64_t> ends_;  ///< [local]: in sources_
  std::vector<VertexId> sources_;
};

}  // namespace edgewire::frontier
