// On which NUMA nodes the memory of a dense job is.
#include <algorithm>

#include "job/dense_job.h"
#include "topology/placement.h"

namespace edgewire::job {

namespace {

/// Of all arrays together; where there is one node, its pages are hardly elsewhere.
constexpr std::size_t kPagesCounted = 4096, kPagesCountedOnOneNode = 256;

}  // namespace

std::size_t DenseJob::local_columns() const {
  const auto end = std::upper_bound(column_bounds_.begin(), column_bounds_.end(), owned_->count());
  return static_cast<std::size_t>(end - column_bounds_.begin()) - 1;
}

/// Cuts the local columns into a stretch for each node, with the part of the edges that its workers are of
/// all workers: vertices that a node's workers write then share pages with no others, but at the stretch's
/// ends. Columns of sums for peers go to the nodes of the workers in turn. `edges`: [column].
void DenseJob::spread_columns(const topology::Machine& machine, std::span<const std::uint64_t> edges) {
  const auto os_index = [&](int node) { return machine.nodes[static_cast<std::size_t>(node)].os_index; };
  const auto& workers = seat_.pool().placement().workers;
  const std::size_t local = local_columns();
  const auto cost = [&](std::size_t c) { return edges[c] + (column_bounds_[c + 1] - column_bounds_[c]); };
  std::uint64_t all = 0, before = 0;
  for (std::size_t c = 0; c < local; ++c) all += cost(c);
  for (std::size_t c = 0; c < local; ++c) {
    const std::uint64_t middle = before + cost(c) / 2;
    const auto worker = static_cast<std::size_t>(middle * workers.size() / std::max<std::uint64_t>(all, 1));
    column_nodes_.push_back(workers[std::min(worker, workers.size() - 1)].node);
    before += cost(c);
  }
  for (const auto& worker : workers) worker_nodes_.push_back(os_index(worker.node));
  memory_figures_.several_nodes = machine.nodes.size() > 1;
  all_nodes_ = topology::nodes_of(seat_.pool().placement(), machine);
  for (std::size_t c = 0; c + 1 < column_bounds_.size(); ++c)
    memory_nodes_.push_back(c < local ? os_index(column_nodes_[c]) : worker_nodes_[c % workers.size()]);
  for (std::size_t c = 0; c < local; ++c) {
    if (c > 0 && memory_nodes_[c] == stretch_nodes_.back()) {
      stretch_ends_.back() = column_bounds_[c + 1];
    } else {
      stretch_ends_.push_back(column_bounds_[c + 1]);
      stretch_nodes_.push_back(memory_nodes_[c]);
    }
  }
}

void DenseJob::deal_columns() {
  exchange_->deal_columns(
      column_bounds_, [this](std::size_t column) { return tiles_.edges(column); }, memory_nodes_,
      worker_nodes_);
}

/// The order of values is known only after the region was used to agree on it: its pages are there. Where the
/// process has one node, they are right. What a card has registered stays spread over the nodes.
void DenseJob::place_inbox() {
  const bool registered = seat_.link().name().ends_with("verbs") || seat_.link().name().ends_with("dpdk");
  if (all_nodes_.size() == 1 || registered) return;
  for (const auto& part : exchange_->inbox_memory(stretch_ends_, stretch_nodes_, all_nodes_))
    topology::move_pages_to(part);
}

std::vector<topology::PlacedMemory> DenseJob::tile_memory() const {
  std::vector<topology::PlacedMemory> memory;
  const auto add = [&](const tiles::Tiles& tiles) {
    for (std::size_t c = 0; c < tiles.columns(); ++c)
      for (const auto part : tiles.column_data(c))
        memory.push_back({std::as_bytes(part), std::span(memory_nodes_).subspan(c, 1)});
  };
  add(tiles_);
  for (const auto& tiles : mirror_tiles_) add(tiles);
  return memory;
}

std::vector<topology::PlacedMemory> DenseJob::array_memory(const engine::VertexArray& array) const {
  if (array.read_by_all || stretch_ends_.size() <= 1) return {{array.bytes, all_nodes_}};
  std::vector<topology::PlacedMemory> memory;
  std::size_t first = 0;
  for (std::size_t i = 0; i < stretch_ends_.size(); ++i) {
    const std::size_t end = stretch_ends_[i] * array.element_bytes;
    memory.push_back({array.bytes.subspan(first, end - first), std::span(stretch_nodes_).subspan(i, 1)});
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
  const auto inbox = exchange_->inbox_memory(stretch_ends_, stretch_nodes_, all_nodes_);
  memory_figures_.kinds = {topology::count_pages(tile_memory(), most), topology::count_pages(values, most),
                           topology::count_pages(messages, most), result.accumulators,
                           topology::count_pages(inbox, most)};
}

}  // namespace edgewire::job
