// Threads for building graphs: short-lived, unpinned, with errors carried to the caller.
#pragma once

#include <cstdint>
#include <functional>

#include "edgewire/progress.h"

namespace edgewire {

/// Runs work(worker, index) for index 0..count-1 on all workers; returns when all are done.
using ForEach = std::function<void(std::uint64_t count,
                                   const std::function<void(int worker, std::uint64_t index)>& work)>;

/// Returns the number of workers for a request: the request itself, or for 0 one for each hardware thread
/// that this process may use, within its CPU quota.
int workers_or_default(int requested);

/// Threads that are there already. While it lives, run_workers() of this thread has its work done by them and
/// starts none of its own: those would inherit the one core that the calling thread is pinned to.
class ReadyWorkers {
 public:
  using Run = std::function<void(const std::function<void(int worker)>& work)>;
  /// Offers the threads. `run` calls work(w) for each of the threads, 0 on the calling one, and returns when
  /// all have returned.
  explicit ReadyWorkers(Run run);
  ~ReadyWorkers();
  ReadyWorkers(const ReadyWorkers&) = delete;
  ReadyWorkers& operator=(const ReadyWorkers&) = delete;

 private:
  friend void run_workers(int workers, const std::function<void(int worker)>& work);
  Run run_;
  const ReadyWorkers* before_;
};

/// Runs work(w) for w in [0, workers), worker 0 on the calling thread, and returns when all have returned.
/// There may be fewer workers. Rethrows the exception of the lowest worker.
void run_workers(int workers, const std::function<void(int worker)>& work);

/// Hands out 0..count-1 in order to whichever worker is free. After a failure no more are handed out, and the
/// exception of the lowest index is rethrown: the same one whatever the number of workers. The calling thread
/// tells of the progress of `step`.
void parallel_for(int workers, std::uint64_t count, const char* step, const Progress& progress,
                  const std::function<void(int worker, std::uint64_t index)>& work);
/// Does the same, and tells of nothing.
inline void parallel_for(int workers, std::uint64_t count,
                         const std::function<void(int worker, std::uint64_t index)>& work) {
  parallel_for(workers, count, nullptr, {}, work);
}

}  // namespace edgewire
