#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/rooms.h"
#include "dense/job/checkpoint.h"
#include "dense/job/dense_job.h"
#include "edgewire/program.h"
#include "options/kernels.h"
#include "partition/gather_values.h"

namespace edgewire {

using job::Checkpoint;
using job::DensePlan;
using job::DiskTiles;

namespace detail {

JobEdges edges_of(const DenseJob& job, bool needs_weights) {
  if (needs_weights && !job.weighted())
    throw UsageError(
        "the program needs the weights of edges (it has no along(message)): set JobOptions::weighted");
  return {job.owned().count(), job.tiles(), job.tile_order(), job.mirror_tiles()};
}

void check_direction(const DenseJob& job, graph::Direction direction) {
  const auto& graph = job.graph();
  if (graph.direction() == direction || (graph.symmetric() && graph.direction() == graph::Direction::out))
    return;
  constexpr std::array kNames{"out", "in", "both"};
  throw UsageError(
      fmt::format("{}: the program follows edges another way than the rows of this graph: make its job of "
                  "graph::view(graph, graph::Direction::{})",
                  graph.path(), kNames[static_cast<std::size_t>(direction)]));
}

const Graph& graph_of(const DenseJob& job) noexcept { return job.graph(); }

bool is_weighted(const DenseJob& job) noexcept { return job.weighted(); }

void place_arrays(const DenseJob& job, const engine::Loops& loops) { job.place(loops); }

void JobWorkers::for_each(std::uint64_t count, const std::function<void(int, std::uint64_t)>& work) {
  job.pool().for_each(count, work);
}

graph::Row row_of(const DenseJob& job, OwnedIndex index) { return job.rows()[job.owned().ids()[index]]; }

void release_rows(DenseJob& job) { job.release_rows(); }

std::vector<IterationRecord> run_loops(DenseJob& job, engine::Loops& loops, const IterateOptions& options,
                                       int done, const detail::PackedTotals& start,
                                       std::span<const double> values, detail::PackedTotals& last) {
  check_range(opt::iterations, options.iterations, done, std::numeric_limits<int>::max());
  // Signals count from the start of the job: another run would take the values of this one for its own.
  if (job.has_run_ && job.bootstrap().size() > 1)
    throw UsageError("a job of several processes runs once: make another job for the next run");
  job.has_run_ = true;
  DensePlan& plan = job.plan_;
  engine::IterationOptions inner;
  inner.iterations = options.iterations - done;
  inner.has_goal = options.has_goal;
  inner.start = start;
  if (options.progress) inner.progress = [&options, done](int more) { options.progress(done + more); };
  if (Checkpoint* const checkpoint = job.checkpoint_; checkpoint != nullptr) {
    inner.checkpoint_due = [=, every = job.every_](int more) { return (done + more) % every == 0; };
    inner.start_checkpoint = [=](int more, const detail::PackedTotals& mine) {
      checkpoint->start(static_cast<std::uint64_t>(done + more), std::as_bytes(values), mine);
    };
    inner.checkpoints_written = [=](bool wait) { return checkpoint->written(wait); };
    inner.commit_checkpoint = [=] { checkpoint->commit(); };
  }
  inner.observer = job.observer_;
  inner.column_nodes = plan.columns.nodes;
  inner.column_workers = plan.column_workers;
  inner.worker_nodes = plan.columns.worker_nodes;
  std::optional<DiskTiles::Watching> watching;
  if (plan.tiles.disks) watching.emplace(*plan.tiles.disks, job.observer_);
  job.setup_messages_ =
      job.bootstrap().messages_sent() + job.process().handshake_messages() + plan.exchange.setup_messages();
  auto result =
      engine::iterate(job.pool(), plan.exchange, plan.columns.bounds, plan.owned.indexes(), loops, inner);
  watching.reset();
  job.count_memory(loops, result);
  if (job.checkpoint_ != nullptr) job.checkpoint_->finish();
  last = result.totals;
  return std::move(result.records);
}

void gather_bytes(const DenseJob& job, std::span<const std::byte> mine, std::size_t value_bytes,
                  const std::function<std::byte*(std::uint64_t)>& room) {
  const auto indexes = job.owned().indexes();
  if (mine.size() != indexes.size() * value_bytes)
    throw Error(fmt::format("rank {} has {} vertices, and {} values to gather", job.bootstrap().rank(),
                            indexes.size(), mine.size() / value_bytes));
  std::vector<std::byte> by_number(mine.size());
  std::byte* to = by_number.data();
  for (const OwnedIndex index : indexes) {
    std::memcpy(to, &mine[index * value_bytes], value_bytes);
    to += value_bytes;
  }
  partition::gather_bytes(job.bootstrap(), job.ownership(), by_number, value_bytes, room);
}

}  // namespace detail

std::span<const VertexId> owned_vertices(const DenseJob& job) noexcept { return job.owned().ids(); }

void DenseJob::keep(Checkpoint* checkpoint, int every) {
  check_range(opt::every, every, 1, std::numeric_limits<int>::max());
  checkpoint_ = checkpoint;
  every_ = every;
}

}  // namespace edgewire
