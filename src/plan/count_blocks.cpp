#include "plan/count_blocks.h"

#include <algorithm>
#include <utility>

#include "graph/parallel.h"
#include "plan/block_edges.h"

namespace edgewire::plan {

namespace {

constexpr std::uint64_t kBytesAnEdge = 24;  // read in pieces, united, routed

/// A value: the process that has or needs it, which is not the owner, and the vertex.
using Value = std::uint64_t;
Value value(std::uint32_t process, VertexId vertex) noexcept { return std::uint64_t{process} << 32 | vertex; }

void keep_distinct(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

/// What some blocks need under one route.
struct Needs {
  std::vector<Value> mirrors, sums;
  std::vector<std::uint64_t> computed_edges;  ///< by process
  std::uint64_t values = 0;                   ///< of each block by itself

  void add(const BlockEdges& edges, const RoutedBlock& routed, const Ownership& owners) {
    for (std::size_t i = 0; i < edges.sources.size(); ++i) {
      const VertexId source = edges.sources[i];
      const std::uint32_t source_owner = owners.place(source).owner;
      for (std::uint64_t e = edges.ends[i]; e < edges.ends[i + 1]; ++e) {
        const std::uint32_t process = routed.computed_by[e];
        ++computed_edges[process];
        if (process != source_owner) {
          const Value mirror = value(process, source);
          if (mirrors.empty() || mirrors.back() != mirror) mirrors.push_back(mirror);
        }
        if (process != owners.place(edges.targets[e]).owner) sums.push_back(value(process, edges.targets[e]));
      }
    }
    values += routed.values;
    keep_distinct(mirrors);
    keep_distinct(sums);
  }
  void add(Needs&& more) {
    mirrors.insert(mirrors.end(), more.mirrors.begin(), more.mirrors.end());
    sums.insert(sums.end(), more.sums.begin(), more.sums.end());
    for (std::size_t p = 0; p < computed_edges.size(); ++p) computed_edges[p] += more.computed_edges[p];
    values += more.values;
    more = {};
  }
  std::uint64_t bytes() const noexcept { return (mirrors.size() + sums.size()) * sizeof(Value); }
};

std::vector<Needs> no_needs(std::size_t routes, int processes) {
  std::vector<Needs> needs(routes);
  for (auto& one : needs) one.computed_edges.resize(static_cast<std::size_t>(processes));
  return needs;
}

}  // namespace

EdgePartition partition_edges(std::string_view how, const Rows& rows, int processes, int threads) {
  if (how == "grid") return EdgePartition::grid(rows.offsets, processes);
  const Cells cells(rows.offsets, processes);
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(threads));
  graph::run_workers(threads, [&](int thread) {
    const auto cut = [&](int t) {
      return rows.vertices() * static_cast<std::uint64_t>(t) / static_cast<std::uint64_t>(threads);
    };
    counts[static_cast<std::size_t>(thread)] =
        cells.count(rows.offsets, rows.targets, cut(thread), cut(thread + 1));
  });
  for (std::size_t thread = 1; thread < counts.size(); ++thread)
    std::ranges::transform(counts[0], counts[thread], counts[0].begin(), std::plus());
  return EdgePartition::hilbert(rows.offsets, processes, cells, counts[0]);
}

BlockTraffic count_blocks(const Rows& rows, const EdgePartition& partition, Strategy strategy,
                          const CountOptions& options) {
  const auto processes = static_cast<std::uint64_t>(partition.processes());
  const Ownership& owners = partition.owners();
  const auto routes = routes_of(strategy);
  const plan::ForEach for_each = [&](std::uint64_t count, const auto& work) {
    graph::parallel_for(options.threads, count, work);
  };
  const std::uint64_t a_block = rows.edges() * kBytesAnEdge / processes + 1;
  const std::uint64_t step = std::clamp<std::uint64_t>(options.memory_bytes / a_block, 1, processes);
  BlockTraffic result{.values = Traffic(partition.processes()), .computed_edges = {}};
  auto all = no_needs(routes.size(), partition.processes());
  for (std::uint64_t first = 0; first < processes; first += step) {
    const std::uint64_t last = std::min(processes, first + step);
    const auto blocks =
        read_blocks(rows, {}, partition, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last),
                    16 * static_cast<std::uint64_t>(options.threads), for_each);
    std::vector<std::vector<Needs>> needs(blocks.size());  // [block][route]
    for_each(blocks.size(), [&](int, std::uint64_t b) {
      needs[b] = no_needs(routes.size(), partition.processes());
      for (std::size_t r = 0; r < routes.size(); ++r)
        needs[b][r].add(blocks[b],
                        route_block(blocks[b], owners, static_cast<std::uint32_t>(first + b), routes[r]),
                        owners);
    });
    for (auto& of_block : needs)
      for (std::size_t r = 0; r < routes.size(); ++r) all[r].add(std::move(of_block[r]));
    ++result.passes;
  }
  result.memory_bytes = step * a_block;
  for (const Needs& one : all) result.memory_bytes += one.bytes();
  Needs& best = *std::ranges::min_element(all, {}, &Needs::values);
  keep_distinct(best.mirrors);
  keep_distinct(best.sums);
  const auto owner = [&](Value one) { return owners.place(VertexId(static_cast<std::uint32_t>(one))).owner; };
  for (const Value one : best.mirrors) ++result.values.at(owner(one), one >> 32);
  for (const Value one : best.sums) ++result.values.at(one >> 32, owner(one));
  result.computed_edges = std::move(best.computed_edges);
  return result;
}

}  // namespace edgewire::plan
