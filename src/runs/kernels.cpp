#include "runs/kernels.h"

#include <fmt/core.h>

#include "base/error.h"
#include "options/kernels.h"

namespace edgewire::runs {

job::DenseOptions Kernel::job_options(const RunOptions& options) const {
  auto job = options.job;
  job.weighted = weighted();
  job.kernel = describe() + (options.tools.profile ? ", profiled" : "") +
               (options.tools.parts ? ", output in parts" : "");
  job.progress = options.tools.progress;
  return job;
}

Checkpoints::Checkpoints(const job::Checkpointed& of, const CheckpointOptions& options,
                         std::optional<std::uint64_t> iterations)
    : every_(static_cast<std::uint64_t>(options.every)) {
  check_range(opt::every, options.every);
  if (!options.resume.empty()) {
    resumed_ = job::resume(of, options.resume);
    resumed_at_ = resumed_->iteration;
    if (iterations && resumed_at_ > *iterations)
      throw UsageError(fmt::format("{}: the checkpoint in {} is from after iteration {}, say {} or more",
                                   opt::iterations(*iterations), options.resume, resumed_at_,
                                   opt::iterations(resumed_at_)));
    if (of.bootstrap.rank() == 0 && options.resumed_at) options.resumed_at(resumed_at_);
  }
  if (!options.folder.empty()) written_.emplace(of, options.folder, options.resume);
}

void expect_right(const report::RunReport& report) {
  for (const auto& check : report.verification)
    if (!check.passed) throw Error(check.fault);
}

void check(const Sources& sources) {
  if (sources.vertices.empty())
    throw UsageError("there is no source to start from: name one or more vertices");
  const bool is_one = sources.vertices.size() == 1 && sources.names.empty();
  if (!is_one && sources.names.size() != sources.vertices.size())
    throw UsageError(fmt::format("there are {} sources and {} names: name each of them",
                                 sources.vertices.size(), sources.names.size()));
}

}  // namespace edgewire::runs
