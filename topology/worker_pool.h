// The threads of a process, pinned to the cores that placement.h gives them.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

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

  int workers() const noexcept { return static_cast<int>(placement_.workers.size()); }
  const topology::Placement& placement() const noexcept { return placement_; }
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
  void observe(Observer* observer, int process = 0) noexcept {
    observer_ = observer;
    process_ = process;
  }
  /// Returns the observer for what workers do that the pool does not see, or null.
  Observer* observer() const noexcept { return observer_; }

  /// Lets a helper thread that a worker started run on all cores that the maker of the pool had.
  void unpin_this_thread() const noexcept;
  /// Runs `work` in a thread of its own, unpinned as above, and returns when it has ended: for steps that
  /// count their own threads while the pool is idle. Rethrows what `work` throws.
  void run_unpinned(const std::function<void()>& work) const;

 private:
  /// A word of its own cache line that threads wait on.
  struct alignas(64) Word {
    std::atomic<std::uint32_t> value{0};
    std::uint32_t wait_while(std::uint32_t old, bool spin) const noexcept;
  };

  bool spin() const noexcept { return !placement_.oversubscribed; }
  std::uint32_t others() const noexcept { return static_cast<std::uint32_t>(threads_.size()); }
  void tell(int worker, Phase phase) const noexcept;
  void guarded(int worker) noexcept;
  void serve(int worker) noexcept;
  void start_round() noexcept;
  void stop() noexcept;

  const CoreClaim claim_;
  const topology::Placement placement_;
  std::vector<std::exception_ptr> thrown_;  ///< exceptions by worker; read when all have returned
  std::vector<std::thread> threads_;        ///< threads of the workers 1, 2...
  cpu_set_t callers_cpus_{};                ///< cores of the making thread before it was pinned
  std::thread::id caller_{};                ///< id of the making thread, when it was pinned
  const std::function<void(int)>* work_ = nullptr;
  Observer* observer_ = nullptr;
  int process_ = 0;  ///< rank of this process for the observer
  bool stopping_ = false;

  Word round_;  ///< number of runs; its release of `work_` and `stopping_` pairs with serve()'s wait
  /// Number of workers that are through with this run, each a release that pairs with run()'s wait.
  Word returned_;
  Word arrived_;  ///< number of workers in the barrier; acquire and release among all of them
  Word passed_;   ///< number of completed barriers (the sense); its release pairs with barrier()'s wait
  alignas(64) std::atomic<std::uint64_t> next_{0};  ///< next index of for_each; guards nothing
  /// A worker threw in this run. Stored before the release of `passed_`, so that woken barriers see it.
  alignas(64) std::atomic<bool> abandoned_{false};
};

}  // namespace edgewire::topology
