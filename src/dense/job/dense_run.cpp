#include "dense/job/dense_run.h"

#include <limits>

#include "base/options.h"

namespace edgewire::job {

void check_weights(const DenseJob& job, bool needs_weights) {
  if (needs_weights && !job.weighted())
    throw UsageError(
        "the program needs the weights of edges (it has no along(message)): set DenseOptions::weighted");
}

engine::IterationResult run_loops(DenseJob& job, engine::Loops& loops, const RunOptions& options, int done,
                                  const exchange::Totals& start, std::span<const double> values) {
  check_range("iterations", options.iterations, done, std::numeric_limits<int>::max());
  check_range("every", options.every, 1, std::numeric_limits<int>::max());
  engine::IterationOptions inner;
  inner.iterations = options.iterations - done;
  inner.has_goal = options.has_goal;
  inner.start = start;
  inner.observer = options.observer;
  if (options.progress) inner.progress = [&](int more) { options.progress(done + more); };
  if (Checkpoint* const checkpoint = options.checkpoint; checkpoint != nullptr) {
    inner.checkpoint_due = [&](int more) { return (done + more) % options.every == 0; };
    inner.start_checkpoint = [=](int more, const exchange::Totals& mine) {
      checkpoint->start(static_cast<std::uint64_t>(done) + static_cast<std::uint64_t>(more),
                        std::as_bytes(values), mine);
    };
    inner.checkpoints_written = [=](bool wait) { return checkpoint->written(wait); };
    inner.commit_checkpoint = [=] { checkpoint->commit(); };
  }
  auto result = job.iterate(loops, inner);
  if (options.checkpoint != nullptr) options.checkpoint->finish();
  return result;
}

}  // namespace edgewire::job
