// The dense/engine folder runs iterations: the loop of a dense kernel computes, writes, signals, waits and
// applies. It needs no barrier between processes, and is compiled once. The loops of a program over edges,
// slots and vertices are templates (program_loops.h).
//
// A worker sends mirrors first. Then it computes the columns of partial sums for peers, and writes each
// finished chunk into the peer's inbox. While the link is busy it computes local columns or applies what has
// arrived. A signal follows each chunk and is never seen before it. The iteration ends when the known number
// of chunks has arrived from every peer. Two inboxes take turns, so that a fast peer overwrites nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/exchange/exchange.h"
#include "edgewire/detail/loops.h"
#include "topology/page_nodes.h"
#include "topology/phase.h"
#include "topology/worker_pool.h"

namespace edgewire::engine {

struct IterationOptions {
  int iterations = 20;
  /// Whether to call Loops::done() after each iteration. All processes then wait for each other's totals.
  bool has_goal = false;
  detail::PackedTotals start{};  ///< totals of this process before the first iteration
  std::function<void(int done)> progress;
  topology::Observer* observer = nullptr;  ///< observer; null: there is none

  // Checkpoints. A state is what a checkpoint stores of one process. It is written while iterations go on.
  // An Error of these functions fails the job.
  /// Returns whether a state is to be written after `done` iterations.
  std::function<bool(int done)> checkpoint_due;
  /// Starts to write a state. `mine`: this process's totals. One worker calls it; the others wait.
  std::function<void(int done, const detail::PackedTotals& mine)> start_checkpoint;
  /// Returns the number of states of this process that are completely written, after each iteration. With
  /// `wait`, set before the next start_checkpoint(), it first waits for the state that is being written.
  std::function<std::uint64_t(bool wait)> checkpoints_written;
  /// Called at rank 0 when all processes have written the state.
  std::function<void()> commit_checkpoint;

  /// The node (of Placement) that holds the tiles of each local column: [local column]. Empty: the first
  /// node.
  std::vector<int> column_nodes;
  /// The worker that computes each local column: [local column]. A worker then computes the columns that it
  /// sends first, then these columns in ascending order, in every iteration. Empty: free workers take the
  /// next column.
  std::vector<int> column_workers;
  /// The node (os_index) that the accumulators of each worker come from: [worker]. Empty: no preference.
  std::vector<int> worker_nodes;
};

struct IterationResult {
  std::vector<IterationRecord> records;
  detail::PackedTotals totals{};       ///< totals over all processes after the last iteration
  topology::PageCount accumulators{};  ///< nodes of the pages of this process's accumulators
};

/// Runs the iterations on all workers of the pool. `column_bounds`: as given to Exchange::deal_columns(); the
/// columns of owned vertices come first and are the local ones. `indexes`: those of the owned vertices.
/// Collective. Throws Error when the job fails.
IterationResult iterate(topology::WorkerPool& pool, exchange::Exchange& exchange,
                        std::span<const std::uint32_t> column_bounds,
                        NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes, Loops& loops,
                        const IterationOptions& options);

}  // namespace edgewire::engine
