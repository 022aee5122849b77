// Runs a program over all edges of a graph, iteration by iteration. A program is a class that says what
// happens at a vertex and along an edge; detail::ProgramLoops says what it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "edgewire/detail/along.h"
#include "edgewire/detail/iteration.h"
#include "edgewire/detail/program_loops.h"
#include "edgewire/error.h"
#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "edgewire/options.h"

#pragma GCC visibility push(default)

namespace edgewire {

/// One process's part of a job that passes over all edges: its edges, its workers and its link. A job of
/// several processes runs once; another run needs another job.
class DenseJob;

/// Makes this process's part of a job. Collective. `bootstrap` and `graph` outlive it. Throws UsageError when
/// an option makes no sense, and Error when the job fails.
std::shared_ptr<DenseJob> make_dense_job(launch::Bootstrap& bootstrap, const Graph& graph,
                                         const JobOptions& options);

/// Returns the vertices that this process owns, in the order in which DenseRun has their values.
std::span<const VertexId> owned_vertices(const DenseJob& job) noexcept;

/// How long to iterate.
struct IterateOptions {
  int iterations = 20;    ///< in all, with those that were done before resume(); the same in all processes
  bool has_goal = false;  ///< ask the program after each iteration whether it is done
  std::function<void(int done)> progress{};  ///< told of all iterations that are done
};

namespace detail {

// DenseRun alone calls these: they are what it needs of a job.

/// The edges of a process: what ProgramLoops takes.
struct JobEdges {
  std::uint32_t owned;  ///< vertices of the process
  const Tiles& tiles;
  const TileOrder& order;
  std::span<const Tiles> mirror_tiles;
};
/// Throws UsageError where a program needs weights of edges, and the job was made without them.
JobEdges edges_of(const DenseJob& job, bool needs_weights);
/// Throws UsageError unless the rows of the job's graph follow its edges in this direction.
void check_direction(const DenseJob& job, graph::Direction direction);
const Graph& graph_of(const DenseJob& job) noexcept;
bool is_weighted(const DenseJob& job) noexcept;
/// Asks for the memory of the loops' arrays where it is used.
void place_arrays(const DenseJob& job, const Loops& loops);
/// The workers of a job, for ProgramLoops::start().
struct JobWorkers {
  DenseJob& job;
  void for_each(std::uint64_t count, const std::function<void(int worker, std::uint64_t index)>& work);
};
/// Returns the row of an owned vertex. Throws UsageError where the rows have been given back, and their
/// weights with them.
graph::Row row_of(const DenseJob& job, OwnedIndex index);
/// Gives back what rows take: values at the start are known.
void release_rows(DenseJob& job);
/// Runs the iterations behind the first `done`. `start`: this process's totals before them. `values`: those
/// of the loops if they are doubles, else empty. Sets `last` to the totals over all processes.
std::vector<IterationRecord> run_loops(DenseJob& job, Loops& loops, const IterateOptions& options, int done,
                                       const PackedTotals& start, std::span<const double> values,
                                       PackedTotals& last);
/// Writes the values of all vertices, in the order of their ids, to the memory that room(vertices) returns;
/// at rank 0. `mine`: the values of this process's vertices, `value_bytes` each.
void gather_bytes(const DenseJob& job, std::span<const std::byte> mine, std::size_t value_bytes,
                  const std::function<std::byte*(std::uint64_t vertices)>& room);

}  // namespace detail

/// Returns the values of all vertices at rank 0, in the order of their ids: [v] is the value of vertex v
/// (Graph::original_id(v) in the input). In other processes it returns nothing. `values`: those of
/// this process, as DenseRun::values() gives them. Collective: all processes call it. Memory at rank 0: twice
/// the values of all vertices. Throws Error when the job fails.
template <class Value>
std::vector<Value> gather_values(const DenseJob& job, std::span<const Value> values) {
  std::vector<Value> all;
  detail::gather_bytes(job, std::as_bytes(values), sizeof(Value), [&](std::uint64_t vertices) {
    all.resize(vertices);
    return std::as_writable_bytes(std::span(all)).data();
  });
  return all;
}

namespace detail {

/// A DenseRun of any program whose values are of this type. DenseRun says what the functions do.
template <class Value>
class AnyRun {
 public:
  virtual ~AnyRun() = default;
  virtual void resume(std::uint64_t done, std::span<const Value> values, const PackedTotals* totals) = 0;
  virtual int resumed_at() const noexcept = 0;
  virtual std::vector<IterationRecord> iterate(const IterateOptions& options) = 0;
  virtual std::span<const Value> values() noexcept = 0;
  virtual NodeMemory take_values() noexcept = 0;
};

}  // namespace detail

/// One process's part of a run of program P (see detail::ProgramLoops), which also has start(row), the value
/// of a vertex before the first iteration, and constant(row). It may have check(graph, weighted), which
/// throws when the program cannot run on this graph, or with edges that have weights or none. A program that
/// follows edges against their direction, or both ways, says so: `static constexpr auto direction =
/// graph::Direction::in`. `job` and `program` outlive it.
template <class P>
class DenseRun : public detail::AnyRun<typename P::Value> {
 public:
  using Value = typename P::Value;
  /// Looks at the program and at the totals of the last iteration over all processes. It may throw.
  using Ended = std::function<void(const P& program, const typename P::Totals& totals)>;

  /// `ended`: called after the iterations; or empty. Throws UsageError when the program needs weights that
  /// the job's edges do not have, or follows edges in another direction than its graph (graph::view()).
  /// Passes on what check(), start() and constant() throw.
  DenseRun(DenseJob& job, P& program, Ended ended = {})
      : DenseRun(job, program, detail::edges_of(job, detail::kNeedsWeights<P>)) {
    ended_ = std::move(ended);
  }

  /// Goes on after `done` iterations instead of from the start. `values`: of owned_vertices(), in their
  /// order. `totals`: this process's, after them; null: other vertices had them, and the program sums again.
  /// Throws Error when there is no value for each owned vertex.
  void resume(std::uint64_t done, std::span<const Value> values,
              const detail::PackedTotals* totals) override {
    if (values.size() != loops_.values().size())
      throw Error("it has values of " + std::to_string(values.size()) + " vertices, and this process owns " +
                  std::to_string(loops_.values().size()));
    if (done > std::numeric_limits<int>::max())
      throw UsageError(std::to_string(done) + " iterations cannot be done");
    start_ = loops_.restart(values);
    if (totals != nullptr) start_ = *totals;
    done_ = static_cast<int>(done);
  }
  int resumed_at() const noexcept override { return done_; }  ///< iterations that were done there

  /// Runs the iterations that are left. Returns what each one took in this process. Collective. Throws
  /// UsageError when an option makes no sense or the job has run before, and Error when the job fails.
  std::vector<IterationRecord> iterate(const IterateOptions& options) override {
    std::span<const double> doubles;
    if constexpr (std::is_same_v<Value, double>) doubles = loops_.values();
    auto iterations = detail::run_loops(job_, loops_, options, done_, start_, doubles, totals_);
    if (ended_) ended_(program_, totals());
    return iterations;
  }

  /// Returns the values of owned_vertices(), in their order.
  std::span<const Value> values() noexcept override { return loops_.values(); }
  /// Returns the values of all vertices at rank 0, in the order of their ids; in other processes nothing.
  /// Collective, see gather_values().
  std::vector<Value> gather() { return gather_values<Value>(job_, values()); }
  /// Returns the memory of values(), which are gone then.
  detail::NodeMemory take_values() noexcept override { return loops_.take_values(); }
  /// Returns the totals of the last iteration over all processes, after iterate().
  typename P::Totals totals() const noexcept { return detail::totals_as<typename P::Totals>(totals_); }

 private:
  DenseRun(DenseJob& job, P& program, const detail::JobEdges& edges)
      : job_(checked(job, program)),
        program_(program),
        loops_(program, edges.owned, edges.tiles, edges.order, edges.mirror_tiles) {
    detail::place_arrays(job, loops_);
    detail::JobWorkers workers{job};
    start_ = loops_.start(workers, [&](OwnedIndex i) {
      const graph::Row row = detail::row_of(job, i);
      return std::pair(program.start(row), program.constant(row));
    });
    detail::release_rows(job);
  }
  static DenseJob& checked(DenseJob& job, const P& program) {
    if constexpr (requires { P::direction; }) detail::check_direction(job, P::direction);
    if constexpr (requires { program.check(detail::graph_of(job), true); })
      program.check(detail::graph_of(job), detail::is_weighted(job));
    return job;
  }

  DenseJob& job_;
  P& program_;
  Ended ended_;
  detail::ProgramLoops<P> loops_;
  detail::PackedTotals start_{}, totals_{};
  int done_ = 0;
};

namespace detail {

template <class P>
struct ProgramOwner {
  P owned;
};

/// A DenseRun that owns its program.
template <class P>
class OwningRun final : private ProgramOwner<P>, public DenseRun<P> {
 public:
  /// Throws as DenseRun does.
  OwningRun(DenseJob& job, P program, typename DenseRun<P>::Ended ended = {})
      : ProgramOwner<P>{std::move(program)}, DenseRun<P>(job, this->owned, std::move(ended)) {}
};

}  // namespace detail

}  // namespace edgewire

#pragma GCC visibility pop
