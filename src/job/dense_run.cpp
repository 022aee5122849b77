#include "job/dense_run.h"

#include <algorithm>

namespace edgewire::job {

engine::IterationResult run_loops(DenseJob& job, engine::Loops& loops, const RunOptions& options, int done,
                                  const exchange::Totals& start, std::span<const double> values) {
  engine::IterationOptions inner;
  inner.iterations = std::max(0, options.iterations - done);
  inner.has_goal = options.has_goal;
  inner.start = start;
  inner.observer = options.observer;
  if (options.progress) inner.progress = [&](int more) { options.progress(done + more); };
  if (Checkpoint* const checkpoint = options.checkpoint; checkpoint != nullptr) {
    inner.keeps = [&](int more) { return (done + more) % options.every == 0; };
    inner.keep = [=](int more, const exchange::Totals& mine) {
      checkpoint->start(static_cast<std::uint64_t>(done) + static_cast<std::uint64_t>(more), values, mine);
    };
    inner.kept = [=](bool wait) { return checkpoint->kept(wait); };
    inner.all_kept = [=] { checkpoint->commit(); };
  }
  auto result = job.iterate(loops, inner);
  if (options.checkpoint != nullptr) options.checkpoint->finish();
  return result;
}

}  // namespace edgewire::job
