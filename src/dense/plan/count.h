// Counts exactly, in passes over the graph, what each process must send to each other one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dense/plan/volume.h"
#include "partition/ownership.h"

namespace edgewire::plan {

/// Out-edges by source, as Graph::offsets() and targets().
struct Rows {
  std::span<const std::uint64_t> offsets;
  std::span<const VertexId> targets;

  std::uint64_t vertices() const noexcept { return offsets.size() - 1; }
  std::uint64_t edges() const noexcept { return targets.size(); }
};

struct CountOptions {
  /// Number of workers of a process; worker w computes the sources whose local number is w modulo this.
  int workers = 1;
  int threads = 1;  ///< number of threads that count
  std::uint64_t memory_bytes = std::uint64_t{4}
                               << 30;  ///< bytes of memory for counting, beside the graph and the result
};

/// Values between processes if each computes the edges that leave its vertices. The diagonals have the values
/// that a process sends to itself.
struct OwnedTraffic {
  Traffic edges;    ///< values with strategy `edge`
  Traffic worker;   ///< distinct destinations of each worker
  Traffic process;  ///< distinct destinations: `process` and `slots`
  std::uint64_t memory_bytes = 0;
  std::uint32_t passes = 0;  ///< passes over the graph: 1 unless memory is short
};

/// Counts the values. It needs (workers + 1) x processes x vertices bits of memory. If that is more than
/// `memory_bytes`, it counts one range of destinations after the other, with one pass over the rows for each.
OwnedTraffic count_owned(const Rows& rows, const partition::Ownership& ownership,
                         const CountOptions& options);

struct CoverTraffic {
  Traffic values;              ///< numbers of mirrors and partial sums; nothing on the diagonal
  Traffic moved_edges;         ///< numbers of edges that move from the source's process to the destination's
  std::uint64_t matching = 0;  ///< lower bound of all values
  std::uint64_t memory_bytes = 0;
  double core_seconds =
      0;  ///< computing time of all threads; divided by the cores of the job: the time of planning

  double gap(std::uint64_t values_total) const noexcept {
    return matching == 0 ? 0 : static_cast<double>(values_total) / static_cast<double>(matching) - 1;
  }
};

/// Computes a cover of the edges of each ordered pair of processes. `edges` as count_owned() returns them.
/// Throws Error when the largest pair does not fit in `memory_bytes`.
CoverTraffic count_cover(const Rows& rows, const partition::Ownership& ownership, const Traffic& edges,
                         const CountOptions& options);

/// Returns the number of edges that each process computes: the edges that leave its vertices, minus those
/// that it moves away, plus those that others move to it. `edges` are those from each process to each other
/// one; on the diagonal, those inside a process.
std::vector<std::uint64_t> computed_edges(const Traffic& edges, const Traffic* moved = nullptr);

/// Returns the number of edges that move from each process to each other one. All of `moved` must move. Edges
/// of `free` may move: only as many as needed, often none, so that no process computes much more than the
/// mean. Processes that compute more give to those that compute least. All processes get the same result.
Traffic balance(const Traffic& edges, Traffic moved, const Traffic& free);

}  // namespace edgewire::plan
