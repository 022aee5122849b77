// The engine folder runs iterations: a pool of pinned workers, the inbox, and the loop that computes, writes,
// signals, waits and applies. It knows nothing of tiles or PageRank.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "topology/placement.h"

namespace edgewire::engine {

/// One pinned thread per worker (the caller's thread is worker 0). Where workers are oversubscribed they wait
/// by blocking, else by spinning for a moment first.
class WorkerPool {
 public:
  explicit WorkerPool(topology::Placement placement);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int workers() const noexcept;
  const topology::Placement& placement() const noexcept;
  /// Runs `work(w)` on every worker w and returns when all have returned. Rethrows the first exception (of
  /// the lowest worker). Not reentrant.
  void run(const std::function<void(int)>& work);
  /// As run, but hands out indices 0..count-1 one after the other to whichever worker is free.
  void for_each(std::uint64_t count, const std::function<void(int worker, std::uint64_t index)>& work);

  /// Inside run(): returns when all workers have called it. `last` runs on the last one to arrive, before the
  /// others go on.
  void barrier(const std::function<void()>& last = {});

  /// For a helping thread that a worker made: lets it run wherever the pool's maker could before.
  void unpin_this_thread() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edgewire::engine
