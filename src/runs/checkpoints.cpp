#include "runs/checkpoints.h"

#include <fmt/core.h>

#include "base/error.h"
#include "options/kernels.h"

namespace edgewire::runs {

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

}  // namespace edgewire::runs
