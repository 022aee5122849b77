#include "dense/plan/edge_partition.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "dense/plan/block_edges.h"
#include "dense/plan/block_routes.h"
#include "graph/file/format.h"

namespace edgewire::plan {

namespace {

constexpr std::uint64_t kBytesAnEdge = 40;  // bytes of an edge: read in pieces, united, routed, needed

/// A value: the process that has or needs it, which is not the owner, and the vertex.
using Value = std::uint64_t;
constexpr int kVertexBits = 48;
static_assert(graph::kMaxVertices <= std::uint64_t{1} << kVertexBits &&
              partition::kMaxProcesses <= 1U << (64 - kVertexBits));
Value value(std::uint32_t process, VertexId vertex) noexcept {
  return std::uint64_t{process} << kVertexBits | vertex;
}
VertexId vertex_of(Value value) noexcept {
  return VertexId(static_cast<PlainId>(value & ((std::uint64_t{1} << kVertexBits) - 1)));
}

void keep_distinct(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  values.shrink_to_fit();
}

/// The needs of some blocks under one route.
struct Needs {
  std::vector<Value> mirrors, sums;
  std::vector<std::uint64_t> computed_edges;  ///< edges by process
  std::uint64_t values = 0;                   ///< values of each block by itself

  void add(const BlockEdges& edges, const RoutedBlock& routed, const partition::Ownership& owners) {
    for (std::size_t i = 0; i < edges.sources.size(); ++i) {
      const VertexId source = edges.sources[i];
      const std::uint32_t source_owner = owners.home(source).owner;
      for (std::uint64_t e = edges.ends[i]; e < edges.ends[i + 1]; ++e) {
        const std::uint32_t process = routed.computed_by[e];
        ++computed_edges[process];
        if (process != source_owner) {
          const Value mirror = value(process, source);
          if (mirrors.empty() || mirrors.back() != mirror) mirrors.push_back(mirror);
        }
        if (process != owners.home(edges.targets[e]).owner) sums.push_back(value(process, edges.targets[e]));
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

ForEach on_threads(int threads) {
  return [threads](std::uint64_t count, const auto& work) { parallel_for(threads, count, work); };
}

std::vector<Needs> no_needs(std::size_t routes, int processes) {
  std::vector<Needs> needs(routes);
  for (auto& one : needs) one.computed_edges.resize(static_cast<std::size_t>(processes));
  return needs;
}

}  // namespace

std::uint64_t block_bytes(const Rows& rows, int processes) noexcept {
  return rows.edges() * kBytesAnEdge / static_cast<std::uint64_t>(processes) + 1;
}

EdgePartition partition_edges(std::string_view how, const Rows& rows, int processes, int threads) {
  if (how == "grid") return EdgePartition::grid(rows.offsets, processes);
  const Cells cells(rows.offsets, processes);
  const auto edges = cells.count(rows, 0, rows.vertices(), threads, on_threads(threads),
                                 [](std::uint64_t, std::uint64_t) {});
  return EdgePartition::hilbert(rows.offsets, processes, cells, edges);
}

BlockTraffic count_blocks(const Rows& rows, const EdgePartition& partition, Strategy strategy,
                          const CountOptions& options) {
  const auto processes = static_cast<std::uint64_t>(partition.processes());
  const partition::Ownership& owners = partition.owners();
  const auto routes = routes_of(strategy);
  if (processes == 1) return {.values = Traffic(1), .computed_edges = {rows.edges()}};
  const ForEach for_each = on_threads(options.threads);
  const std::uint64_t a_block = block_bytes(rows, partition.processes());
  if (a_block > options.memory_bytes)
    throw Error(
        fmt::format("blocks of edges need {} MB of memory for one of {} processes, the limit is {} MB",
                    (a_block >> 20) + 1, processes, options.memory_bytes >> 20));
  const std::uint64_t step = std::min(options.memory_bytes / a_block, processes);
  BlockTraffic result{.values = Traffic(partition.processes()), .computed_edges = {}};
  auto all = no_needs(routes.size(), partition.processes());
  for (std::uint64_t first = 0; first < processes; first += step) {
    const std::uint64_t last = std::min(processes, first + step);
    const auto blocks =
        read_blocks(rows, {}, partition, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last),
                    16 * static_cast<std::uint64_t>(options.threads), for_each);
    std::vector<std::vector<Needs>> needs(blocks.size());  // needs, [block][route]
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
  const auto owner = [&](Value one) { return owners.home(vertex_of(one)).owner; };
  for (const Value one : best.mirrors) ++result.values.at(owner(one), one >> kVertexBits);
  for (const Value one : best.sums) ++result.values.at(one >> kVertexBits, owner(one));
  result.computed_edges = std::move(best.computed_edges);
  return result;
}

}  // namespace edgewire::plan
