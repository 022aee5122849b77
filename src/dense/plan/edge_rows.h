// Rows of edges on their way from the graph file into tiles.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/numbering.h"

namespace edgewire::plan {

/// Returns the bytes of a weight in tiles and on the wire: those of a float where no weight changes by that,
/// else those of a double. Returns 0 if edges have none.
inline std::size_t weight_bytes(const Graph& graph, bool weighted) {
  if (!weighted) return 0;
  return graph.float_weights() ? sizeof(float) : sizeof(double);
}

/// The edges of consecutive sources, in source order. Made once for each worker and filled again and again.
struct EdgeRows {
  std::vector<std::uint32_t> destinations;  ///< destinations as numbers or addresses, see ColumnAddresses
  /// Number of destinations up to and including those of a source, [source].
  std::vector<std::uint32_t> ends;
  std::vector<double> weights;  ///< weights, [destination]; empty where they are not asked for

  /// Returns room for the global ids of `count` destinations, which are numbered afterwards. Where an id is
  /// as wide as a number, it is the room of the numbers.
  template <class Id = PlainId>
  std::span<Id> room_for_ids(std::size_t count) {
    destinations.resize(count);
    if constexpr (sizeof(Id) == sizeof(std::uint32_t)) {
      return destinations;
    } else {
      ids_.resize(count);
      return ids_;
    }
  }

 private:
  std::vector<std::conditional_t<kIds64, PlainId, char>> ids_;  ///< ids, only where they are wider
};

inline constexpr std::uint32_t kRowBlock = 64;  ///< number of sources that an EdgeReader reads at a time

/// The edges of a process, source by source. They are const and thread safe.
class EdgeReader {
 public:
  virtual ~EdgeReader() = default;
  virtual std::uint32_t sources() const = 0;
  /// Returns the bytes of a weight, see plan::weight_bytes(). With 0, read() gives no weights.
  virtual std::size_t weight_bytes() const { return 0; }
  /// Returns the number of edges of sources [first, last), or an upper bound; `first` is a multiple of
  /// kRowBlock, `last` too, or sources().
  virtual std::uint64_t edges(std::uint32_t first, std::uint32_t last) const = 0;
  /// Sets `rows` to the edges of sources [first, last). `first` is a multiple of kRowBlock; the range has at
  /// most kRowBlock sources. Destinations are addresses, see partition::ColumnAddresses.
  virtual void read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const = 0;
};

}  // namespace edgewire::plan
