#include "edgewire/tasks.h"

#include <utility>

#include "library/job_options.h"
#include "tasks/task_job.h"

namespace edgewire {

struct TaskJob::Job {
  tasks::TaskJob job;
};

namespace {

process::ProcessOptions options_of(launch::Bootstrap& bootstrap, const JobOptions& asked) {
  expect_only(asked, "a job of tasks", {});
  return process_options(bootstrap, asked);
}

}  // namespace

TaskJob::TaskJob(launch::Bootstrap& bootstrap, const tasks::Registry& registry, const JobOptions& options,
                 bool retry)
    : job_(new Job{{bootstrap, registry, options_of(bootstrap, options), {}, retry}}) {}

TaskJob::~TaskJob() = default;

std::string TaskJob::run(tasks::FunctionId root, std::string arguments) {
  return job_->job.run(root, std::move(arguments));
}

const tasks::Figures& TaskJob::figures() const noexcept { return job_->job.figures(); }

}  // namespace edgewire
