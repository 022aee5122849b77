#include "dense/job/dense_plan.h"

#include <algorithm>

namespace edgewire::job {

std::size_t local_columns(std::span<const std::uint32_t> bounds, std::uint32_t owned) {
  return static_cast<std::size_t>(std::ranges::upper_bound(bounds, owned) - bounds.begin()) - 1;
}

Columns spread_columns(std::vector<std::uint32_t> bounds, std::uint32_t owned,
                       std::span<const std::uint64_t> edges, const topology::Placement& placement,
                       const topology::Machine& machine) {
  Columns columns;
  columns.bounds = std::move(bounds);
  const auto os_index = [&](int node) { return machine.nodes[node].os_index; };
  const auto& workers = placement.workers;
  const std::size_t local = local_columns(columns.bounds, owned);
  const auto cost = [&](std::size_t c) { return edges[c] + (columns.bounds[c + 1] - columns.bounds[c]); };
  std::uint64_t all = 0, before = 0;
  for (std::size_t c = 0; c < local; ++c) all += cost(c);
  for (std::size_t c = 0; c < local; ++c) {
    const std::uint64_t middle = before + cost(c) / 2;
    const auto worker = static_cast<std::size_t>(middle * workers.size() / std::max<std::uint64_t>(all, 1));
    columns.nodes.push_back(workers[std::min(worker, workers.size() - 1)].node);
    before += cost(c);
  }
  for (const auto& worker : workers) columns.worker_nodes.push_back(os_index(worker.node));
  columns.all_nodes = topology::nodes_of(placement, machine);
  for (std::size_t c = 0; c + 1 < columns.bounds.size(); ++c)
    columns.memory_nodes.push_back(c < local ? os_index(columns.nodes[c])
                                             : columns.worker_nodes[c % workers.size()]);
  for (std::size_t c = 0; c < local; ++c) {
    if (c > 0 && columns.memory_nodes[c] == columns.stretch_nodes.back()) {
      columns.stretch_ends.back() = columns.bounds[c + 1];
    } else {
      columns.stretch_ends.push_back(columns.bounds[c + 1]);
      columns.stretch_nodes.push_back(columns.memory_nodes[c]);
    }
  }
  return columns;
}

}  // namespace edgewire::job
