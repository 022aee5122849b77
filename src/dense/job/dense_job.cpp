#include "dense/job/dense_job.h"

#include <malloc.h>

#include "topology/placement.h"

namespace edgewire {

using namespace job;

namespace {

/// The number of pages of all arrays together that are counted. On one node, they are hardly elsewhere.
constexpr std::size_t kPagesCounted = 4096, kPagesCountedOnOneNode = 256;

const Graph& checked(const Graph& graph, const DenseOptions& options) {
  check(options, graph);
  return graph;
}

}  // namespace

DenseJob::DenseJob(launch::Bootstrap& bootstrap, const Graph& graph, const DenseOptions& options,
                   const topology::Machine& machine)
    : bootstrap_(bootstrap),
      graph_(checked(graph, options)),
      weighted_(options.weighted),
      process_(bootstrap, options.process, exchange::kFirstLaneKind + options.process.workers, machine),
      plan_(make_dense_plan({bootstrap, graph, process_, options, machine})) {
  memory_figures_.several_nodes = machine.nodes.size() > 1;
  place_inbox();
  malloc_trim(0);  // iterations need little of the plan's memory
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

/// Moves the inbox to its nodes: its pages were there before the order of values was known. Where the process
/// has one node, they are right. Memory that a card has registered stays spread over the nodes.
void DenseJob::place_inbox() {
  const bool registered =
      process_.link().name().ends_with("verbs") || process_.link().name().ends_with("dpdk");
  if (plan_.columns.all_nodes.size() == 1 || registered) return;
  for (const auto& part : inbox_memory()) topology::move_pages_to(part);
}

std::vector<topology::PlacedMemory> DenseJob::inbox_memory() const {
  const auto& columns = plan_.columns;
  return plan_.exchange.inbox_memory(columns.stretch_ends, columns.stretch_nodes, columns.all_nodes);
}

std::vector<topology::PlacedMemory> DenseJob::tile_memory() const {
  std::vector<topology::PlacedMemory> memory;
  const auto add = [&](const tiles::Tiles& tiles) {
    for (std::size_t c = 0; c < tiles.columns(); ++c)
      for (const auto part : tiles.column_data(c))
        memory.push_back({std::as_bytes(part), std::span(plan_.columns.memory_nodes).subspan(c, 1)});
  };
  add(plan_.tiles.own);
  for (const auto& tiles : plan_.tiles.mirrored) add(tiles);
  return memory;
}

std::vector<topology::PlacedMemory> DenseJob::array_memory(const engine::VertexArray& array) const {
  const auto& columns = plan_.columns;
  if (array.read_by_all || columns.stretch_ends.size() <= 1) return {{array.bytes, columns.all_nodes}};
  std::vector<topology::PlacedMemory> memory;
  std::size_t first = 0;
  for (std::size_t i = 0; i < columns.stretch_ends.size(); ++i) {
    const std::size_t end = columns.stretch_ends[i] * array.element_bytes;
    memory.push_back(
        {array.bytes.subspan(first, end - first), std::span(columns.stretch_nodes).subspan(i, 1)});
    first = end;
  }
  return memory;
}

void DenseJob::place(const engine::Loops& loops) const {
  for (const auto& array : loops.arrays())
    for (const auto& part : array_memory(array)) topology::place_pages(part);
}

void DenseJob::count_memory(const engine::Loops& loops, const engine::IterationResult& result) {
  std::vector<topology::PlacedMemory> values, messages;
  for (const auto& array : loops.arrays()) {
    const auto more = array_memory(array);
    auto& all = array.read_by_all ? messages : values;
    all.insert(all.end(), more.begin(), more.end());
  }
  const std::size_t most = memory_figures_.several_nodes ? kPagesCounted : kPagesCountedOnOneNode;
  memory_figures_.kinds = {topology::count_pages(tile_memory(), most), topology::count_pages(values, most),
                           topology::count_pages(messages, most), result.accumulators,
                           topology::count_pages(inbox_memory(), most)};
}

}  // namespace edgewire
