#include "dense/job/dense_job.h"

#include <malloc.h>

#include "base/error.h"
#include "base/seconds.h"

namespace edgewire::job {

namespace {

const graph::GraphFile& checked(const graph::GraphFile& graph, const DenseOptions& options) {
  check(options, graph);
  return graph;
}

}  // namespace

DenseJob::DenseJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const DenseOptions& options,
                   const topology::Machine& machine)
    : bootstrap_(bootstrap),
      graph_(checked(graph, options)),
      weighted_(options.weighted),
      seat_(bootstrap, options.seat, exchange::kFirstLaneKind + options.seat.workers, machine),
      plan_(make_dense_plan({bootstrap, graph, seat_, options, machine})) {
  memory_figures_.several_nodes = machine.nodes.size() > 1;
  place_inbox();
  malloc_trim(0);  // iterating needs little of what the plan took
}

const partition::OwnedRows& DenseJob::rows() const {
  if (rows_released_ && weighted_)
    throw UsageError(
        "the weights of this job's edges came from other hosts for its first program: make "
        "another job for the next one");
  return plan_.rows;
}

void DenseJob::release_rows() {
  const auto [first, last] =
      partition::span_of_owned(plan_.ownership, static_cast<std::uint32_t>(bootstrap_.rank()));
  plan_.rows.release_pages(first, last);
  if (plan_.rows.in_file()) return;
  plan_.rows.forget_edges();
  rows_released_ = true;
}

engine::IterationResult DenseJob::iterate(engine::Loops& loops, engine::IterationOptions options) {
  options.column_nodes = plan_.columns.nodes;
  options.column_workers = plan_.column_workers;
  options.worker_nodes = plan_.columns.worker_nodes;
  if (plan_.tiles.disks) plan_.tiles.disks->watch(options.observer);
  setup_messages_ = bootstrap_.messages_sent() + seat_.handshake_messages() + plan_.exchange.setup_messages();
  auto result = engine::iterate(seat_.pool(), plan_.exchange, plan_.columns.bounds, plan_.owned.indexes(),
                                loops, options);
  count_memory(loops, result);
  return result;
}

disk::ReadFigures DenseJob::measure_disks() {
  disk::ReadFigures figures;
  const auto& files = disk_tiles()->files();
  figures.stored_bytes = disk_tiles()->where().padded_bytes();
  figures.bytes_read = files.all_bytes_read();
  if (plan_.cache.source != PlanSource::used) figures.bytes_written = files.bytes();
  plan_.tiles.disks->stop_reads();
  bootstrap_.allgather("");  // all read at the same time
  figures.measure_limit(files, plan_.read_ahead);
  return figures;
}

}  // namespace edgewire::job
