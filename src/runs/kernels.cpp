#include "runs/kernels.h"

#include <fmt/format.h>

#include "base/error.h"

namespace edgewire::runs {

job::DenseOptions Kernel::job_options(const RunOptions& options) const {
  auto job = options.job;
  job.weighted = weighted();
  job.kernel = describe() + (options.tools.profile ? ", profiled" : "") +
               (options.tools.parts ? ", output in parts" : "");
  job.progress = options.tools.progress;
  return job;
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
