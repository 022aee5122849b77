// Propagation blocking: the edges of thin cells of the matrix are swept in two steps that both go through
// memory in order. First the values of a strip's sources are written into bins, one for each column
// (scatter). Then each column adds what its bin holds (gather). A tile of a thin cell would read a cache line
// for each edge from memory or the last cache; here only values of one strip, or accumulators of one column,
// are accessed at random, and they stay in the L2 cache.
//
// After Beamer, Asanovic, Patterson, "Reducing PageRank Communication via Propagation Blocking" (IPDPS 2017),
// and Lakhotia, Kannan, Prasanna, "Accelerating PageRank using Partition-Centric Processing" (USENIX ATC
// 2018): where each value lies and where it goes is laid out once. They put all edges into bins. Tiles are
// faster for dense cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewire/detail/along.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/detail/tile.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// A cell is a strip of sources x a column. It is thin if it has fewer edges than this for each source.
/// (Xeon, Kronecker 24: an eighth, a quarter and a half took the same time.)
inline constexpr double kThinEdges = 0.25;

/// Says where the value of each edge of a thin cell is read, and where it goes. It never changes; the values
/// are the caller's.
class Bins {
 public:
  std::size_t strips() const noexcept { return strips_.size(); }  ///< none without thin cells
  /// Returns how many values must fit into the memory that scatter() fills.
  std::size_t edges() const noexcept { return sources_.size(); }
  /// Returns whether the edges of a strip to a column are in the bins.
  bool holds(std::size_t column, std::uint16_t strip) const noexcept;

  /// Writes the values of a strip's sources into `values`. `x`: by source. Workers may scatter different
  /// strips at the same time.
  template <class Message>
  void scatter(std::size_t strip, const Message* x, Message* values) const noexcept {
    const Strip& from = strips_[strip];
    run_scalar_for_cpu([&] {
      const Message* const own = x + strip * kStripWidth;
      const std::uint16_t* source = sources_.data() + from.first_source;
      for (const Segment& to : from.segments) {
        Message* const out = values + to.begin;
        for (std::uint32_t i = 0; i < to.edges; ++i) out[i] = own[source[i]];
        source += to.edges;
      }
    });
  }
  /// Combines what the bin of a column holds into its accumulators. P: as for Sweep. All strips have been
  /// scattered.
  template <class P>
  void gather(std::size_t column, const typename P::Message* values,
              typename P::Accumulator* accumulators) const noexcept {
    run_scalar_for_cpu([&] {
      for (std::uint64_t e = begins_[column]; e < begins_[column + 1]; ++e) {
        auto& one = accumulators[destinations_[e]];
        one = P::combine(one, along_plain<P>(values[e]));
      }
    });
  }

 private:
  friend struct BinMaker;
  /// A thin cell, seen from its strip: where its values go.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint32_t edges = 0;
  };
  struct Strip {
    std::uint64_t first_source = 0;  ///< in sources_, those of its segments one after the other
    std::vector<Segment> segments;
  };
  std::vector<Strip> strips_;
  std::vector<std::uint64_t> begins_{0};          ///< [column + 1]: of bins
  std::vector<std::vector<std::uint16_t>> thin_;  ///< [column]: strips of its thin cells, ascending
  PageVector<std::uint16_t> sources_;             ///< in the strip, in the order in which strips write
  PageVector<std::uint16_t> destinations_;        ///< in the column, in the order in which columns read
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
