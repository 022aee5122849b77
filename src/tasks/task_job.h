// The tasks folder runs tasks, which start other tasks and wait for their results, in all processes of a job
// and without a master (edgewire/tasks.h). This file has one process's part of such a job. Mail carries
// tasks and results between workers, and a Memo knows results when a run is tried again after a loss.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "tasks/future.h"
#include "tasks/mail.h"
#include "tasks/memo.h"
#include "transport/wakeup.h"

namespace edgewire::tasks {

/// The answer of a process that is asked whether it still does anything.
struct Activity {
  std::uint64_t round = 0;
  std::uint64_t steps = 0, sent = 0, received = 0;  ///< tasks resumed, and messages that make work
  std::int64_t suspended = 0;
  std::uint64_t busy = 0;  ///< number of busy workers

  /// Adds the counts of other workers. The round stays.
  Activity& operator+=(const Activity& more) noexcept;
};

/// One process's part of a job of tasks. `bootstrap` and `registry` outlive it.
class TaskJob {
 public:
  /// Makes the job, as edgewire::TaskJob does. The processes also agree on `input`: what else tasks work on.
  TaskJob(launch::Bootstrap& bootstrap, const Registry& registry, const process::ProcessOptions& options,
          const std::string& input = {}, bool retry = false);
  /// Does the same on a process that exists already, whose link is not connected yet. `process` outlives it.
  TaskJob(launch::Bootstrap& bootstrap, const Registry& registry, process::LocalProcess& process);
  ~TaskJob();

  /// Returns when all processes have called it.
  void barrier();
  /// Runs the task `root`, see edgewire::TaskJob::run(). Collective.
  std::string run(FunctionId root, std::string arguments = {}, bool measure_phases = false);
  /// Returns the figures of the last run.
  const Figures& figures() const noexcept { return figures_; }
  /// Returns how many tasks have ended here in the last run. Any thread, and a signal handler, may call it.
  std::uint64_t tasks_ended() const noexcept {
    std::uint64_t sum = 0;
    for (const Ended& one : ended_) sum += one.tasks.load(std::memory_order_relaxed);
    return sum;
  }
  process::LocalProcess& process() noexcept { return process_; }

 private:
  friend class Worker;

  struct alignas(128) Ended {
    std::atomic<std::uint64_t> tasks{0};  ///< number of tasks that a worker has ended; guards nothing
  };

  void connect(const std::string& input);
  void attempt(FunctionId root, std::string arguments);
  bool meet(bool finished);
  int stand_in(int process) const;
  void clear();
  Activity activity() const;
  std::string waiting() const;

  launch::Bootstrap& bootstrap_;
  const Registry& registry_;
  const bool retry_;
  std::unique_ptr<process::LocalProcess> own_process_;
  process::LocalProcess& process_;
  std::optional<Mail> mail_;  ///< mail where there is more than one process
  std::vector<int> peers_{};  ///< the other processes, without those that are lost
  std::uint32_t attempts_ = 0;
  Memo memo_{};
  FutureTable futures_;
  Guests guests_{};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Ended> ended_{};  ///< counts by worker
  transport::Wakeup wakeup_;    ///< wakes idle workers, where there is no link to wait for
  /// True when the root's result is there: released with it, acquired by all workers.
  std::atomic<bool> stop_{false};
  bool measure_phases_ = false;
  Waiter caller_{};
  std::string result_;
  Figures figures_;
};

}  // namespace edgewire::tasks
