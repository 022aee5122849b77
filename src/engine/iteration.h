// The engine folder runs iterations: the loop of a dense kernel computes, writes, signals, waits and applies.
// It needs no barrier between processes, and knows nothing of PageRank.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/phase.h"
#include "exchange/exchange.h"
#include "exchange/inbox.h"
#include "exchange/outbox.h"
#include "topology/worker_pool.h"

namespace edgewire::engine {

/// What a dense kernel does in an iteration. Several workers call it at the same time, for different columns.
/// No function may throw.
///
/// `sums` are the accumulators of a column: sums[i] belongs to destination i of the column. In a remote
/// column they become the partial sums that a peer gets.
///
/// `Message`, float or double: the type of source values, and of values in slots.
template <class Message>
class Step {
 public:
  virtual ~Step() = default;
  /// Sets sums[i] to what the edges of the owned vertices contribute to destination i of the column.
  virtual void compute(int worker, std::size_t column, std::span<double> sums) = 0;
  /// The source value of each owned vertex, by index. Mirrors are copies of these values.
  virtual std::span<const Message> values() const = 0;
  /// An upper bound of all sums and source values. Where values travel in 16 bits, none may be negative.
  virtual double largest_value() const = 0;
  /// Adds to the accumulators of a local column what the mirrors of `peer` contribute. `mirrors`: the source
  /// values that the peer has sent in this iteration.
  virtual void add_mirrors(int peer, const Message* mirrors, std::size_t column, std::span<double> sums) = 0;
  /// Computes the new values of the owned vertices from index `first` on. `sums` are complete. `totals`: the
  /// scalars of the last iteration, summed over all processes. Returns what these vertices contribute to the
  /// scalars of this iteration.
  virtual exchange::Scalars finish(std::uint32_t first, std::span<const double> sums,
                                   const exchange::Scalars& totals) = 0;
  /// keep() stores accumulators that are not yet complete; take() returns them. The sums were rounded to
  /// Message before, so nothing is lost. The memory may be reused once finish() was called for the same
  /// vertices.
  virtual void keep(std::uint32_t first, std::span<const double> sums) = 0;
  virtual void take(std::uint32_t first, std::span<double> sums) = 0;
  /// Makes the new values the current ones, when all owned vertices are finished. One worker calls it; the
  /// others wait.
  virtual void advance() = 0;
  /// Whether the run ends after these totals. Called once after each iteration if `has_goal` is set. The
  /// answer must be the same in all processes.
  virtual bool reached(const exchange::Scalars& totals) = 0;
};

/// How long an iteration took in this process, and what the process sent in it.
struct IterationRecord {
  double seconds = 0;
  std::uint64_t payload_bytes = 0;  ///< values of vertices only
  std::uint64_t wire_bytes = 0;     ///< with all headers, scalars and signals
};

struct IterationOptions {
  int iterations = 20;
  /// Call Step::reached() after each iteration. All processes then wait for each other's scalars.
  bool has_goal = false;
  exchange::Scalars start{};  ///< this process's part of the scalars before the first iteration
  std::function<void(int done)> progress;
  Observer* observer = nullptr;  ///< null: nobody is told, and no clock is read

  // Checkpoints. A state is what a checkpoint stores of one process. It is written while iterations go on.
  // These functions may throw Error; the job then fails.
  /// Whether a state is to be written after `done` iterations.
  std::function<bool(int done)> keeps;
  /// Starts to write a state. `mine`: this process's scalars. One worker calls it; the others wait.
  std::function<void(int done, const exchange::Scalars& mine)> keep;
  /// Called after each iteration. Returns how many states of this process are completely written. With
  /// `wait`, which is set before the next keep(), it first waits for the state that is being written.
  std::function<std::uint64_t(bool wait)> kept;
  /// Called at rank 0 when all processes have written the state.
  std::function<void()> all_kept;

  /// [local column]: the node (of Placement) that holds its tiles. Empty: the first node holds all.
  std::vector<int> column_nodes;
};

struct IterationResult {
  std::vector<IterationRecord> records;
  exchange::Scalars totals{};  ///< over all processes, after the last iteration
};

/// Runs the iterations on all workers of the pool. `column_bounds`: as given to Exchange::deal_columns(); the
/// columns of owned vertices come first and are the local ones. `indexes`: [local number] index of an owned
/// vertex. Collective. Throws Error when the job fails. Defined for Message float and double.
template <class Message>
IterationResult iterate(topology::WorkerPool& pool, exchange::Exchange& exchange,
                        std::span<const std::uint32_t> column_bounds, std::span<const std::uint32_t> indexes,
                        Step<Message>& step, const IterationOptions& options);

}  // namespace edgewire::engine
