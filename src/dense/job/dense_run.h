// Runs a program over all edges, iteration by iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "dense/engine/program_loops.h"
#include "dense/job/checkpoint.h"
#include "dense/job/dense_job.h"
#include "dense/tiles/along.h"
#include "graph/row.h"
#include "partition/gather_values.h"

namespace edgewire::job {

/// Returns the values of all vertices at rank 0, in the order of their ids: graph().vertices() of them, [v]
/// is that of vertex v (graph().original_id(v) in the input). In other processes it returns nothing. `values`
/// are those of this process, by index of the owned vertices, as DenseRun::values() gives them. Collective:
/// all processes call it. Memory at rank 0: twice the values of all vertices. Throws Error when the job
/// fails.
template <class Value>
std::vector<Value> gather_values(const DenseJob& job, std::span<const Value> values) {
  const auto indexes = job.owned().indexes();
  if (values.size() != indexes.size())
    throw Error(fmt::format("rank {} has {} vertices, and {} values to gather", job.bootstrap().rank(),
                            indexes.size(), values.size()));
  std::vector<Value> mine;
  mine.reserve(values.size());
  for (const OwnedIndex index : indexes) mine.push_back(values[index]);
  return partition::gather_values(job.bootstrap(), job.ownership(), mine);
}

struct RunOptions {
  int iterations = 20;                       ///< in all, with those that were done before resume()
  bool has_goal = false;                     ///< ask the program after each iteration whether it is done
  std::function<void(int done)> progress{};  ///< told of all iterations that are done
  topology::Observer* observer = nullptr;
  Checkpoint* checkpoint = nullptr;  ///< for programs whose values are doubles; null: none are written
  int every = 1;                     ///< iterations from checkpoint to checkpoint
};

/// Does the same as iterate(), for loops whose values are `values` if these are doubles; else `values` is
/// empty. An earlier run has done `done` iterations.
engine::IterationResult run_loops(DenseJob& job, engine::Loops& loops, const RunOptions& options, int done,
                                  const exchange::Totals& start, std::span<const double> values);

/// Throws UsageError where a program needs weights of edges, and the job was made without them.
void check_weights(const DenseJob& job, bool needs_weights);

/// One process's part of a run of program P (see engine::ProgramLoops), which also has start(row), the value
/// of a vertex before the first iteration, and constant(row). It may have check(graph, weighted), which
/// throws when the program cannot run on this graph, or with edges that have weights or none. `job` and
/// `program` outlive it.
template <class P>
class DenseRun {
 public:
  using Value = typename P::Value;

  /// Throws UsageError when the program needs weights that the job's edges do not have. Passes on what
  /// check(), start() and constant() throw.
  DenseRun(DenseJob& job, P& program)
      : job_(checked(job, program)),
        program_(program),
        loops_(program, job.owned().count(), job.tiles(), job.tile_order(), job.mirror_tiles()) {
    job.place(loops_);
    start_ = loops_.start(job.pool(), [&](OwnedIndex i) {
      const graph::Row row = job.rows()[job.owned().ids()[i]];
      return std::pair(program.start(row), program.constant(row));
    });
    job.release_rows();
  }

  /// Goes on from there instead of from the start. Throws Error when there is no value for each owned vertex.
  void resume(const ResumedState& state) requires std::is_same_v<Value, double> {
    const auto values = state.values<double>();
    if (values.size() != loops_.values().size()) throw Error("it has values of other vertices");
    start_ = loops_.restart(values);
    if (state.has_totals) start_ = state.totals;
    done_ = static_cast<int>(state.iteration);
  }
  int resumed_at() const noexcept { return done_; }  ///< iterations that were done there

  /// Runs the iterations that are left. Collective. Throws UsageError when an option makes no sense, and
  /// Error when the job fails.
  std::vector<engine::IterationRecord> iterate(const RunOptions& options) {
    std::span<const double> doubles;
    if constexpr (std::is_same_v<Value, double>) doubles = loops_.values();
    auto result = run_loops(job_, loops_, options, done_, start_, doubles);
    totals_ = result.totals;
    return std::move(result.records);
  }

  /// Returns the values by index of the owned vertices.
  std::span<const Value> values() noexcept { return loops_.values(); }
  /// Returns the values of all vertices at rank 0, in the order of their ids; in other processes nothing.
  /// Collective, see gather_values().
  std::vector<Value> gather() { return gather_values<Value>(job_, values()); }
  /// Returns the memory of values(), which are gone then.
  topology::NodeMemory take_values() noexcept { return loops_.take_values(); }
  /// Returns the totals of the last iteration over all processes, after iterate().
  typename P::Totals totals() const noexcept { return exchange::totals_as<typename P::Totals>(totals_); }

 private:
  static DenseJob& checked(DenseJob& job, const P& program) {
    check_weights(job, tiles::kNeedsWeights<P>);
    if constexpr (requires { program.check(job.graph(), true); }) program.check(job.graph(), job.weighted());
    return job;
  }

  DenseJob& job_;
  P& program_;
  engine::ProgramLoops<P> loops_;
  exchange::Totals start_{}, totals_{};
  int done_ = 0;
};

}  // namespace edgewire::job
