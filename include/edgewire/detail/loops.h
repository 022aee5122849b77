// This file says what the engine asks of a program. The engine is compiled once; a program's types are known
// only in its loops, each of which is called for a column or a chunk, never for an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "edgewire/detail/iteration.h"
#include "edgewire/detail/slots.h"
#include "edgewire/detail/tile_order.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// An array with an element for each owned vertex, and perhaps more behind these; where it is read by all, of
/// any length.
struct VertexArray {
  std::span<const std::byte> bytes;
  std::size_t element_bytes = 0;
  bool read_by_all = false;  ///< sources of edges: every column reads all of it
};

/// The loops of a program over the edges and vertices of a process. Several workers call them at the same
/// time, for different columns. No function but arrays(), mirrors_by_column() and powers() may throw.
/// ProgramLoops implements them for any program.
///
/// `accumulators`: an array of the program's type, one for each destination of a column. `first`: index of
/// the owned vertex that the first one belongs to.
class Loops : public SlotLoops {
 public:
  virtual std::size_t accumulator_bytes() const noexcept = 0;
  /// Returns an upper bound of all accumulators and messages, which are floats and never negative. Returns
  /// none where they cannot be rounded to 16 bits.
  virtual std::optional<double> largest() const noexcept = 0;
  /// Returns whether all messages and partial sums are 0 or 1.
  virtual bool is_one_bit() const noexcept = 0;
  /// Returns where values and messages are, for whoever places their memory before they are set.
  virtual std::vector<VertexArray> arrays() const = 0;
  /// Returns which columns are computed together.
  virtual const TileOrder& order() const noexcept = 0;
  /// Writes the messages of a strip's sources into the bins of their thin cells. Before compute(), for each
  /// strip of order().bins().
  virtual void scatter(std::size_t strip) noexcept = 0;
  /// Sets the accumulators to what the edges of the owned vertices contribute to the destinations of all
  /// columns of the group. `worker`: the one that calls.
  virtual void compute(int worker, std::size_t group, std::byte* accumulators) noexcept = 0;
  /// Returns the peers whose mirrors contribute to each column: [column], ascending.
  virtual std::vector<std::vector<int>> mirrors_by_column() const = 0;
  /// Combines what the mirrors of `peer`, which is one of these, contribute into the
  /// accumulators of the column. `mirrors`: the messages that the peer has sent in this iteration.
  virtual void add_mirrors(int peer, const std::byte* mirrors, std::size_t column,
                           std::byte* accumulators) noexcept = 0;
  /// Rounds accumulators to messages, as store() and load() do: whether a column is kept depends on timing,
  /// the result must not.
  virtual void round(std::byte* accumulators, std::size_t count) noexcept = 0;
  /// store() stores accumulators that are not yet complete; load() returns them. The memory may be reused
  /// once apply() was called for the same vertices.
  virtual void store(std::uint32_t first, const std::byte* accumulators, std::size_t count) noexcept = 0;
  virtual void load(std::uint32_t first, std::byte* accumulators, std::size_t count) noexcept = 0;
  /// Computes the new values and messages of `count` owned vertices; their accumulators are complete. `last`:
  /// the totals of the last iteration, over all processes. Returns what these vertices add to those of this
  /// one.
  virtual PackedTotals apply(std::uint32_t first, const std::byte* accumulators, std::size_t count,
                             const PackedTotals& last) noexcept = 0;
  /// Makes the new messages the current ones, when apply() was called for all owned vertices. One worker
  /// calls it; the others wait.
  virtual void advance() noexcept = 0;
  /// Returns whether the run ends after these totals. It is called once after each iteration if `has_goal` is
  /// set. The answer must be the same in all processes.
  virtual bool done(const PackedTotals& totals) noexcept = 0;
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
