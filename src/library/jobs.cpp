// This file makes the jobs of callers: dense programs, frontier kernels, sorts and tasks.
#include <fmt/format.h>

#include <utility>

#include "base/rooms.h"
#include "dense/job/dense_job.h"
#include "edgewire/frontier.h"
#include "edgewire/program.h"
#include "edgewire/sort.h"
#include "edgewire/tasks.h"
#include "frontier/frontier_job.h"
#include "library/job_options.h"
#include "runs/frontier_kernel.h"
#include "shuffle/sort_job.h"
#include "tasks/task_job.h"

namespace edgewire {

std::shared_ptr<DenseJob> make_dense_job(launch::Bootstrap& bootstrap, const Graph& graph,
                                         const JobOptions& options) {
  expect_only(options, "a program", {options::Part::graph, options::Part::weights, options::Part::tiles});
  return std::make_shared<DenseJob>(bootstrap, graph, job_options(bootstrap, options));
}

namespace detail {

std::shared_ptr<frontier::Job> make_frontier_job(launch::Bootstrap& bootstrap, const Graph& graph,
                                                 const std::string& kernel, std::size_t record_bytes,
                                                 const JobOptions& asked) {
  expect_only(asked, "a frontier job", {options::Part::graph, options::Part::weights});
  frontier::Options options = runs::frontier_options(job_options(bootstrap, asked));
  options.kernel =
      fmt::format("{}, records of {} bytes{}", kernel, record_bytes, asked.weighted ? ", weights" : "");
  options.record_bytes = record_bytes;
  options.disks.weighted = asked.weighted;
  auto job = std::make_shared<frontier::Job>(bootstrap, graph, options);
  job->make_rows();
  return job;
}

}  // namespace detail

SortSummary sort(launch::Bootstrap& bootstrap, const SortOptions& options, const JobOptions& job) {
  expect_only(job, "sort", {});
  shuffle::SortOptions asked;
  asked.process = process_options(bootstrap, job);
  asked.inputs = options.inputs;
  asked.output = options.output;
  asked.temp = options.temp;
  asked.shape = {options.record_bytes, options.key_offset, options.key_bytes};
  asked.partitions = options.partitions;
  asked.memory_bytes = options.memory_bytes;
  asked.progress = job.progress;
  shuffle::SortJob sorting(bootstrap, asked);
  sorting.run();
  sorting.commit();
  const auto& figures = sorting.figures();
  SortSummary summary{figures.records_read, figures.bytes_spilled, figures.payload_bytes_sent,
                      figures.wire_bytes_sent};
  for (std::uint32_t p = sorting.first_partition(); p < sorting.last_partition(); ++p)
    summary.parts.push_back(shuffle::partition_file(options.output, p, options.partitions));
  return summary;
}

namespace {

process::ProcessOptions task_options(launch::Bootstrap& bootstrap, const JobOptions& asked) {
  expect_only(asked, "a job of tasks", {});
  return process_options(bootstrap, asked);
}

}  // namespace

struct TaskJob::Job {
  tasks::TaskJob job;
};

TaskJob::TaskJob(launch::Bootstrap& bootstrap, const tasks::Registry& registry, const JobOptions& options,
                 bool retry)
    : job_(new Job{{bootstrap, registry, task_options(bootstrap, options), {}, retry}}) {}

TaskJob::~TaskJob() = default;

std::string TaskJob::run(tasks::FunctionId root, std::string arguments) {
  return job_->job.run(root, std::move(arguments));
}

const tasks::Figures& TaskJob::figures() const noexcept { return job_->job.figures(); }

}  // namespace edgewire
