// The threads of a process, pinned to the cores that placement.h gives them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "topology/core_claim.h"
#include "topology/phase.h"
#include "topology/placement.h"

namespace edgewire::topology {

/// The items [first, last).
struct Part {
  std::uint64_t first, last;
};

/// One pinned thread for each worker; the caller's thread is worker 0. A worker that waits spins for a moment
/// and then blocks. Where there are more workers than cores, it blocks at once.
class WorkerPool {
 public:
  /// Holds `claim`, of the cores that workers are pinned to, as long as it lives.
  explicit WorkerPool(topology::Placement placement, CoreClaim claim = {});
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int workers() const noexcept;
  const topology::Placement& placement() const noexcept;
  /// Returns the part of a worker when all share `items`, fewer than 2^54, in their order and evenly.
  Part part(int worker, std::uint64_t items) const noexcept;
  /// Runs `work(w)` on every worker w and returns when all have returned. If workers have thrown, rethrows
  /// the exception of the lowest one. It is not reentrant.
  void run(const std::function<void(int)>& work);
  /// Does the same as run(), but gives the indexes 0..count-1, one after the other, to free workers.
  void for_each(std::uint64_t count, const std::function<void(int worker, std::uint64_t index)>& work);

  /// Returns when all workers have called it, inside run(). The last to arrive runs `last` before all go on.
  void barrier(const std::function<void()>& last = {});

  /// Tells this observer from here on, until the next call, when workers begin to work, and when they wait
  /// for each other. Worker 0 also works while no run() goes on. If it is null, no clock is read. `process`
  /// is this one, see Observer::enter(). It must not be called inside run().
  void observe(Observer* observer, int process = 0) noexcept;
  /// Returns the observer for what workers do that the pool does not see, or null.
  Observer* observer() const noexcept;

  /// Lets a helper thread that a worker started run on all cores that the maker of the pool had.
  void unpin_this_thread() const noexcept;
  /// Runs `work` in a thread of its own, unpinned as above, and returns when it has ended: for steps that
  /// count their own threads while the pool is idle. Rethrows what `work` throws.
  void run_unpinned(const std::function<void()>& work) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edgewire::topology
