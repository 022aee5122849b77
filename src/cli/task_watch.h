#pragma once

#include <atomic>
#include <cstdint>

#include "process/interrupt.h"
#include "report/progress.h"
#include "tasks/task_job.h"

namespace edgewire::cli {

/// Says how far runs of tasks have come: on a terminal, and when a signal ends them. For one process of a
/// job.
class TaskWatch {
 public:
  /// `job` outlives it. `alone`: it is the only process.
  TaskWatch(const tasks::TaskJob& job, bool alone);

  /// The next run begins, or, where nobody knows how many there will be, the next level.
  void tell(const Step& step);

 private:
  const char* const unit_;
  std::atomic<std::uint64_t> level_{0};  ///< that is measured; 0: there are none
  process::InterruptLine::Counting counting_;
  process::InterruptLine line_;  // goes before what it counts with
  report::Ticker ticker_;
  Progress progress_;
};

}  // namespace edgewire::cli
