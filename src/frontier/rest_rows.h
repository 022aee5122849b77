// The edges that may still be on a cycle, in both directions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_job.h"

namespace edgewire::frontier {

/// An edge is kept where both ends have the same colour and this is not kGone; loops are not. Vertices that
/// are known to be of one component are one vertex here, to which all their edges go.
class RestRows {
 public:
  static constexpr std::uint32_t kGone = 0;
  static constexpr std::uint32_t kMerged = 0xffffffff;  ///< colour of those that are one with another vertex

  /// `colours`: [vertex], of all vertices. `merged`: the one that kMerged stands for. Reads the rows of
  /// all vertices that are not gone, also those of other processes: each has the whole file, so nothing is
  /// sent. Memory: 24 bytes for each owned vertex and 8 for each edge that is kept between two of them, 4 for
  /// one to or from another process. Throws Error when the file is damaged.
  RestRows(FrontierJob& job, std::span<const std::uint32_t> colours, VertexId merged);

  /// The vertices at the other ends of an owned vertex's edges, once for each edge.
  std::span<const VertexId> out(LocalNumber local) const noexcept { return out_.of(local); }
  std::span<const VertexId> in(LocalNumber local) const noexcept { return in_.of(local); }

  /// Leaves out the edges of a vertex that these colours no longer keep. Any worker, for vertices that no
  /// other one asks for.
  void leave_out(LocalNumber local, VertexId vertex, std::span<const std::uint32_t> colours) {
    out_.leave_out(local, colours[vertex], colours);
    in_.leave_out(local, colours[vertex], colours);
  }

 private:
  struct Rows {
    std::vector<std::uint64_t> begins;   ///< [local]
    std::vector<std::uint32_t> lengths;  ///< [local]
    std::vector<VertexId> ends;

    std::span<const VertexId> of(LocalNumber local) const noexcept {
      return {ends.data() + begins[local], lengths[local]};
    }
    void make_room();
    void leave_out(LocalNumber local, std::uint32_t colour, std::span<const std::uint32_t> colours);
  };
  template <class Out, class In>
  void each_edge(FrontierJob& job, std::span<const std::uint32_t> colours, const Out& out,
                 const In& in) const;

  VertexId merged_;
  Rows out_, in_;
};

}  // namespace edgewire::frontier
