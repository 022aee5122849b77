// Which processes hold edges of each vertex when the edges are partitioned, and so which one owns the vertex.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/bits.h"
#include "plan/count.h"
#include "plan/edge_partition.h"

namespace edgewire::plan {

/// Some of the processes. A view: valid during the call of VisitHolders that it was given to.
class ProcessSet {
 public:
  /// Process p is in the set if bit first + p of `bits` is set. `width` bits belong to the set: a power of
  /// two up to 64, or a multiple of 64; first is a multiple of width.
  ProcessSet(const Bits& bits, std::uint64_t first, std::uint64_t width)
      : bits_(&bits), first_(first), width_(width) {}
  bool has(std::uint64_t process) const noexcept { return bits_->test(first_ + process); }
  std::uint64_t words() const noexcept { return (width_ + 63) / 64; }
  /// Processes from 64 x index on, a bit for each.
  std::uint64_t word(std::uint64_t index) const noexcept {
    const std::uint64_t word = bits_->word(first_ / 64 + index) >> (first_ % 64);
    return width_ >= 64 ? word : word & ((std::uint64_t{1} << width_) - 1);
  }
  /// Calls work(process) for each process in the set, ascending.
  template <class Work>
  void for_each(const Work& work) const {
    for (std::uint64_t w = 0; w < words(); ++w)
      for (std::uint64_t left = word(w); left != 0; left &= left - 1)
        work(w * 64 + static_cast<unsigned>(std::countr_zero(left)));
  }

 private:
  const Bits* bits_;
  std::uint64_t first_, width_;
};

/// Called with the vertex, its owner, the processes that hold edges which leave it, and those that hold edges
/// which reach it.
using VisitHolders =
    std::function<void(VertexId vertex, std::uint64_t owner, const ProcessSet& out, const ProcessSet& in)>;

struct HoldersCost {
  std::vector<std::uint64_t> computed_edges;  ///< by process
  std::uint64_t memory_bytes = 0;
  std::uint32_t passes = 0;  ///< over the graph
};

/// Visits all vertices, ascending. Chooses as owner of a vertex a process that holds both out-edges and
/// in-edges of it, or else one that holds any edge of it: that makes the fewest values. If several qualify,
/// it takes the one that owns the fewest vertices so far. A vertex without edges may go to any process. All
/// processes of a job choose the same owners. Memory: 2 bits for each vertex and process, the number of
/// processes rounded up to a power of two. If that is more than `memory_bytes`, it makes several passes over
/// the graph.
HoldersCost visit_holders(const Rows& rows, const EdgePartition& partition, const CountOptions& options,
                          const VisitHolders& visit);

}  // namespace edgewire::plan
