// Runs a program over all edges, iteration by iteration.
#pragma once

#include <functional>
#include <type_traits>
#include <vector>

#include "engine/program_loops.h"
#include "graph/row.h"
#include "job/checkpoint.h"
#include "job/dense_job.h"

namespace edgewire::job {

struct RunOptions {
  int iterations = 20;
  bool has_goal = false;                     ///< ask the program after each iteration whether it is done
  std::function<void(int done)> progress{};  ///< told of all iterations that are done
  engine::Observer* observer = nullptr;
  Checkpoint* checkpoint = nullptr;  ///< for programs whose values are doubles; null: none are written
  int every = 1;                     ///< iterations from checkpoint to checkpoint
};

/// As iterate(), for loops whose values are `values`, if these are doubles, or empty. `done`: iterations that
/// an earlier run has done.
engine::IterationResult run_loops(DenseJob& job, engine::Loops& loops, const RunOptions& options, int done,
                                  const exchange::Totals& start, std::span<const double> values);

/// One process's part of a run of program P (see engine::ProgramLoops), which also has start(row), the value
/// of a vertex before the first iteration, and constant(row). `job` and `program` outlive it.
template <class P>
class DenseRun {
 public:
  using Value = typename P::Value;

  /// Passes on what start() and constant() throw.
  DenseRun(DenseJob& job, P& program)
      : job_(job),
        program_(program),
        loops_(program, job.owned().count(), job.tiles(), job.tile_order(), job.mirror_tiles(),
               job.mirror_sources()) {
    job.place(loops_);
    start_ = loops_.start(job.pool(), [&](std::uint32_t i) {
      const graph::Row row{job.graph(), job.owned().ids()[i]};
      return std::pair(program.start(row), program.constant(row));
    });
    job.graph().release_rows(0, job.graph().vertices());
  }

  /// Goes on from there instead of from the start.
  void take_up(const ResumedState& state) requires std::is_same_v<Value, double> {
    start_ = loops_.restart(state.values);
    if (state.has_totals) start_ = state.totals;
    done_ = static_cast<int>(state.iteration);
  }
  int taken_up() const noexcept { return done_; }  ///< iterations that were done there

  /// The iterations that are left. Collective. Throws Error when the job fails.
  std::vector<engine::IterationRecord> iterate(const RunOptions& options) {
    std::span<const double> doubles;
    if constexpr (std::is_same_v<Value, double>) doubles = loops_.values();
    auto result = run_loops(job_, loops_, options, done_, start_, doubles);
    totals_ = result.totals;
    return std::move(result.records);
  }

  /// By index of the owned vertices.
  std::span<const Value> values() noexcept { return loops_.values(); }
  /// The memory of values(), which are gone then.
  topology::NodeMemory take_values() noexcept { return loops_.take_values(); }
  /// After iterate(): of the last iteration, over all processes.
  typename P::Totals totals() const noexcept { return exchange::totals_as<typename P::Totals>(totals_); }

 private:
  DenseJob& job_;
  P& program_;
  engine::ProgramLoops<P> loops_;
  exchange::Totals start_{}, totals_{};
  int done_ = 0;
};

}  // namespace edgewire::job
