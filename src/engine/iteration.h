// The loop of a dense kernel: compute, write, signal, wait, apply, without a barrier between processes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/exchange.h"
#include "engine/inbox.h"
#include "engine/outbox.h"
#include "engine/phase.h"
#include "engine/worker_pool.h"

namespace edgewire::engine {

/// What a dense kernel does in an iteration. Called by several workers at once for different columns; must
/// not throw.
class Step {
 public:
  virtual ~Step() = default;
  /// sums[i]: what the own edges give to destination i of the column.
  virtual void compute(int worker, std::size_t column, std::span<double> sums) = 0;
  /// Source values by index of the own vertices, what mirrors are copies of.
  virtual std::span<const float> values() const = 0;
  /// No sum and no source value is ever larger (or negative, where values travel in 16 bits).
  virtual double largest_value() const = 0;
  /// Adds to sums of a local column what the edges of the sources give that `peer` mirrors here.
  virtual void add_mirrors(int peer, const float* mirrors, std::size_t column, std::span<double> sums) = 0;
  /// Makes new values of own vertices first.. from their complete sums. `totals`: the scalars after the last
  /// iteration over all processes. Returns these vertices' part of the next ones.
  virtual Scalars finish(std::uint32_t first, std::span<const double> sums, const Scalars& totals) = 0;
  /// Keeps incomplete sums (floats already, so nothing is rounded) and gives them back; until finish() for
  /// the same vertices.
  virtual void keep(std::uint32_t first, std::span<const double> sums) = 0;
  virtual void take(std::uint32_t first, std::span<double> sums) = 0;
  /// All own vertices are finished: new values become old ones. Called by one worker while the others rest.
  virtual void advance() = 0;
  /// Whether the run ends after these totals; only asked when `has_goal`.
  virtual bool reached(const Scalars& totals) const = 0;
};

/// How long an iteration took here, and what this process sent in it.
struct IterationRecord {
  double seconds = 0;
  std::uint64_t payload_bytes = 0;  ///< values of vertices only
  std::uint64_t wire_bytes = 0;     ///< with all headers, scalars and signals
};

struct IterationOptions {
  int iterations = 20;
  bool has_goal =
      false;  ///< ask Step::reached() after each iteration; all processes then wait for each other's scalars
  Scalars start{};  ///< own part of the scalars before the first iteration
  std::function<void(int done)> progress;
  Observer* observer = nullptr;  ///< null: nobody is told, and no clock is read
  /// After these iterations keep(done, own scalars) is called by one worker while the others rest. May throw
  /// Error, as the next two; then the job fails. It begins to keep a state, while iterations go on.
  std::function<bool(int done)> keeps;
  std::function<void(int done, const Scalars& mine)> keep;
  /// After each iteration: how many states are whole in this process; `wait`, before the next keep(): when
  /// all that it began are. Then at rank 0, once that holds in all processes, all_kept().
  std::function<std::uint64_t(bool wait)> kept;
  std::function<void()> all_kept;
  std::vector<int>
      column_nodes;  ///< [local column]: the node (of Placement) that holds its tiles; empty: the first
};

/// Runs the iterations on all workers of the pool. `column_bounds` are those of Exchange::deal_columns; the
/// columns below `own` vertices are local. Collective. Throws Error when the job fails.
std::vector<IterationRecord> iterate(WorkerPool& pool, Exchange& exchange,
                                     std::span<const std::uint32_t> column_bounds,
                                     std::span<const std::uint32_t> indexes, Step& step,
                                     const IterationOptions& options);

}  // namespace edgewire::engine
