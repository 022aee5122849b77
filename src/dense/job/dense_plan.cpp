#include "dense/job/dense_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>

#include "base/seconds.h"
#include "dense/job/plan_cache.h"
#include "launch/agreement.h"
#include "launch/packing.h"
#include "options/kernels.h"
#include "topology/placement.h"

namespace edgewire::job {

namespace {

void agree(const PlanTask& task) {
  const DenseOptions& options = task.options;
  const std::string strategy =
      options.choose_strategy ? "auto" : std::string(plan::to_name(options.strategy));
  const auto yes = [](bool holds) { return std::string(holds ? "yes" : "no"); };
  launch::check_agreement(
      task.bootstrap,
      {{"the kernel", options.kernel},
       {"the graph", fmt::format("{:016x} ({} vertices, {} edges)", task.graph.checksum(),
                                 task.graph.vertices(), task.graph.edges())},
       {"the ownership", partition::fact_of(options.ownership)},
       {"the transport", std::string(task.process.link().name())},
       {"the strategy", strategy},
       {"the encoding", std::string(plan::to_name(options.encoding))},
       {"the layout", options.choose_layout ? "auto" : "set"},
       {"the order", options.order.choose ? "auto" : std::string(to_name(options.order.order))},
       {"the number of workers", std::to_string(options.process.workers)},
       {"the assumed rate of computing", fmt::format("{} edges/s", options.assumed_compute_rate)},
       {"the link's rate", options.assumed_link_rate > 0 ? "assumed" : "measured"},
       {"the use of a plan cache", yes(!options.plan_cache.empty())},
       {"the use of weights", yes(options.weighted)},
       {"the reading of rows", word_of(opt::rows, options.rows)},
       {"the check of integrity", yes(options.process.integrity)},
       {"the number of disks for edges", std::to_string(options.devices.size())}});
}

/// Counts the values that each process sends to each other one.
plan::Traffic count_traffic(launch::Bootstrap& bootstrap, const exchange::Exchange& exchange) {
  plan::Traffic traffic(bootstrap.size());
  std::vector<std::uint64_t> to(static_cast<std::size_t>(bootstrap.size()));
  for (const auto& stream : exchange.outgoing()) to[stream.peer] += stream.slots;
  const auto rows = launch::allgather(bootstrap, to);
  for (std::size_t p = 0; p < rows.size(); ++p)
    for (std::size_t q = 0; q < to.size(); ++q) traffic.at(p, q) = rows[p][q];
  return traffic;
}

DensePlan complete(const PlanTask& task, ConnectedPlan connected) {
  const auto start = Clock::now();
  DensePlan plan{std::move(connected)};
  plan.exchange.deal_columns(
      plan.columns.bounds, [&](std::size_t column) { return plan.tiles.work(column); },
      plan.columns.memory_nodes, plan.columns.worker_nodes);
  plan.traffic = count_traffic(task.bootstrap, plan.exchange);
  order_tiles(task, plan);
  plan.seconds_plan += seconds_since(start);
  return plan;
}

}  // namespace

exchange::ColumnWork EdgeTiles::work(std::size_t column) const noexcept {
  std::uint64_t edges = 0;
  for (const auto& one : mirrored)
    if (column < one.columns()) edges += one.edges(column);
  return {own.edges(column) + edges, edges > 0};
}

tiles::TileSizes PlanTask::tile_sizes() const noexcept {
  return tiles::TileSizes::for_caches(machine.l1_bytes, machine.l2_bytes,
                                      plan::message_bytes(options.encoding));
}

std::uint64_t PlanTask::column_edges(std::uint64_t edges) const noexcept {
  return std::max<std::uint64_t>(edges / (tiles::kColumnsPerWorker * static_cast<std::uint64_t>(workers())),
                                 1 << 16);
}

std::string PlanTask::cache_name(std::string_view kind) const {
  return fmt::format("{}.{}-{}-of-{}", std::filesystem::path(graph.path()).filename().string(), kind,
                     bootstrap.rank(), bootstrap.size());
}

std::size_t local_columns(std::span<const std::uint32_t> bounds, std::uint32_t owned) {
  return static_cast<std::size_t>(std::ranges::upper_bound(bounds, owned) - bounds.begin()) - 1;
}

Columns spread_columns(const PlanTask& task, std::vector<std::uint32_t> bounds, std::uint32_t owned,
                       std::span<const std::uint64_t> edges) {
  Columns columns;
  columns.bounds = std::move(bounds);
  const auto os_index = [&](int node) { return task.machine.nodes[node].os_index; };
  const auto& workers = task.process.pool().placement().workers;
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
  columns.all_nodes = topology::nodes_of(task.process.pool().placement(), task.machine);
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

ForEach PlanTask::on_workers(const char* step) const {
  return [this, step](std::uint64_t count, const std::function<void(int, std::uint64_t)>& work) {
    std::atomic<std::uint64_t> done{0};
    process.pool().for_each(count, [&](int worker, std::uint64_t index) {
      work(worker, index);
      if (options.progress) options.progress({step, done.fetch_add(1, std::memory_order_relaxed) + 1, count});
    });
  };
}

void for_each_rows(const PlanTask& task, const graph::RowRange& rows, const ForEach& for_each,
                   const std::function<void(std::uint64_t, std::uint64_t)>& work) {
  const std::uint64_t count = rows.last - rows.first;
  const std::uint64_t piece = count / (16 * static_cast<std::uint64_t>(task.workers())) + 1;
  for_each((count + piece - 1) / piece, [&](int, std::uint64_t i) {
    work(rows.first + i * piece, rows.first + std::min((i + 1) * piece, count));
  });
}

void release_rows(const PlanTask& task, partition::OwnedRows& rows, const partition::Ownership& ownership,
                  const ForEach& for_each) {
  // Weighted jobs still add weights up, and their errors name edges.
  if (!task.options.weighted) rows.forget_targets();
  for_each_rows(task, partition::span_of_owned(ownership, task.rank()), for_each,
                [&](std::uint64_t first, std::uint64_t last) { rows.release_pages(first, last); });
}

DensePlan make_dense_plan(const PlanTask& task) {
  agree(task);
  if (!task.options.devices.empty()) check_memory(task);
  std::optional<PlanCache> cache;
  if (!task.options.plan_cache.empty()) cache.emplace(task);
  const auto make = [&] {
    if (cache)
      if (auto cached = cache->take()) return std::move(*cached);
    Rates rates(task);
    Choices choices = choose_ownership(task, rates);
    return partition::owns_edges(choices.ownership) ? plan_block(task, rates, std::move(choices))
                                                    : plan_vertices(task, rates, std::move(choices));
  };
  DensePlan plan = complete(task, make());
  if (cache) {
    const auto start = Clock::now();
    cache->store(plan);
    plan.cache = cache->use();
    plan.seconds_plan += seconds_since(start);
  }
  if (plan.tiles.disks) plan_reads(task, plan);
  return plan;
}

}  // namespace edgewire::job
