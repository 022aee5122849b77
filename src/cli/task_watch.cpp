#include "cli/task_watch.h"

#include <fmt/format.h>

namespace edgewire::cli {

TaskWatch::TaskWatch(const tasks::TaskJob& job, bool alone)
    : unit_(alone ? "tasks run" : "tasks run here"),
      counting_(unit_, [&job] { return job.tasks_ended(); }),
      ticker_(process::InterruptLine::listen_if_shown(report::progress_on_terminal()),
              [this, &job] {
                const std::uint64_t level = level_;
                return fmt::format("{}{} {}", level > 0 ? fmt::format("level {}, ", level) : "",
                                   job.tasks_ended(), unit_);
              }),
      progress_(process::InterruptLine::listen([this](const Step& step) { ticker_.tell(step); })) {}

void TaskWatch::tell(const Step& step) {
  level_ = step.total == 0 ? step.done + 1 : 0;
  progress_(step);
}

}  // namespace edgewire::cli
