#include "bounds/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "frontier/boundary.h"
#include "graph/file/format.h"
#include "report/json_text.h"
#include "report/table.h"

namespace edgewire::bounds {

namespace {

using frontier::Boundary;
using kernels::ShareBytes;
using plan::Strategy;

// The constants of dense kernels were fitted to the largest processes of jobs with 2 to 16 processes on
// Kronecker graphs of scale 18 to 22 and on a crawl of 3.2 M edges, for all ownerships and strategies.

/// The bytes that an id of edgewire-wide takes beyond the 4 bytes of these jobs.
constexpr double kWider = sizeof(VertexId) - 4;
/// The bytes of the program with one worker, before it has any part of a graph.
constexpr double kProgram = 3.7e6;
/// The most edges that are dealt to columns at a time, with their places there.
constexpr double kBandEdges = 1 << 20;
/// The bytes for an edge of such a band, an edge in tiles, and an owned vertex in the order of computing.
constexpr double kBandEdge = 8.5, kTileEdge = 3.4, kVertex = 5.2 + 3 * kWider;
/// The bytes, during iterations, for an edge in tiles, and an owned vertex without its four values.
constexpr double kEdgeAtRest = 2.95, kVertexAtRest = 8 + kWider, kValuesOfAVertex = 4;
/// The bytes of a value that is sent, while the tiles are built, by strategy.
constexpr double kSlotValue = 17.5, kEdgeValue = 16, kCoverValue = 56;
/// The bytes, while covers are made, for an edge that leaves the process, and for an owned vertex.
constexpr double kLeavingEdge = 6.65, kCoverVertex = 8;
/// The bytes for each byte of an edge's weight: one in tiles, and one where it is dealt to columns.
constexpr std::uint64_t kWeightByte = 2;
/// The bytes, where processes own edges, for the program, an edge of a band, an edge, a vertex, a value.
constexpr double kBlockProgram = 4.6e6, kBlockBandEdge = 4.1, kBlockEdge = 8.2 + kWider,
                 kRoutedEdge = 14.5 + 2 * kWider, kBlockVertex = 27 + 3 * kWider, kBlockValue = 19;

double of_block(const DenseShare& share) {
  const auto edges = static_cast<double>(share.edges);
  const double each = share.strategy == Strategy::cover ? kRoutedEdge : kBlockEdge;
  return kBlockProgram + kBlockBandEdge * std::min(edges, kBandEdges) + each * edges +
         kBlockVertex * static_cast<double>(share.vertices) + kBlockValue * static_cast<double>(share.values);
}

/// Returns the memory while the tiles are built, with the plan.
double building(const DenseShare& share) {
  const auto edges = static_cast<double>(share.edges), values = static_cast<double>(share.values);
  const double all =
      kProgram + kBandEdge * std::min(edges, kBandEdges) + kVertex * static_cast<double>(share.vertices);
  if (share.strategy == Strategy::cover) return all + kTileEdge * edges + kCoverValue * values;
  if (share.strategy != Strategy::edge) return all + kTileEdge * edges + kSlotValue * values;
  const double in_tiles = edges - std::min(edges, values);  // no tile has the edges to other processes
  return all + kTileEdge * in_tiles + kEdgeValue * values;
}

double making_covers(const DenseShare& share) {
  return kProgram + kCoverVertex * static_cast<double>(share.vertices) +
         kLeavingEdge * static_cast<double>(share.leaving);
}

double iterating(const DenseShare& share) {
  const auto edges = static_cast<double>(share.edges);
  const double in_tiles =
      share.strategy == Strategy::edge ? edges - std::min(edges, static_cast<double>(share.values)) : edges;
  return kProgram + kEdgeAtRest * in_tiles +
         (kVertexAtRest + kValuesOfAVertex * static_cast<double>(share.value_bytes)) *
             static_cast<double>(share.vertices);
}

// The comments on memory in src/frontier say where the constants of these kernels come from.

/// The bytes of the program with one worker, before it has any part of a graph.
constexpr std::uint64_t kFrontierProgram = 3'100'000;

constexpr ShareBytes kBoundary{.boundary = Boundary::kVertexBytes, .told = Boundary::kToldBytes};
constexpr ShareBytes kKnownRows{.owned = sizeof(std::uint64_t), .edge = sizeof(KnownNumber)};

std::uint64_t blocks(const GraphShares& graph, const ProcessShare& share) {
  return Boundary::kBlockBytes * std::min(share.boundary + share.owned / Boundary::kBlockVertices,
                                          graph.vertices / Boundary::kBlockVertices);
}

std::uint64_t kernel_bytes(const kernels::KernelMemory& kernel, const GraphShares& graph,
                           ProcessShare share) {
  const bool several = graph.processes.size() > 1;
  // A single process reads the rows of the file, unless ids are wider than numbers.
  const ShareBytes rows = kernel.follows_rows && (several || kIds64) ? kKnownRows : ShareBytes{};
  const auto bytes_of = [&](const ProcessShare& known) {
    return (rows + (graph.symmetric ? kernel.symmetric : kernel.directed)).of(known) +
           (kernel.more == nullptr ? 0 : kernel.more(graph, known));
  };
  if (graph.symmetric || !kernel.both_ways) return bytes_of(share);
  // Then the sources of its in-edges are at its boundary, too.
  share.boundary = share.boundary_both;
  share.told = share.told_both;
  return bytes_of(share) + (several ? kBoundary.of(share) + blocks(graph, share) : 0);
}

/// Returns, for each process, the vertices of others with an edge to one of its own. Adds the in-edges.
std::vector<std::vector<VertexId>> sources_of(const Graph& graph, const kernels::Names& names,
                                              std::vector<ProcessShare>& shares) {
  std::vector<std::vector<VertexId>> sources(shares.size());
  std::vector<VertexId> last(shares.size(), VertexId(kNoVertex));  // last vertex that was added, [process]
  for (VertexId u{}; u < graph.vertices(); ++u)
    for (const VertexId v : graph::Row{graph, u}.targets()) {
      const std::uint32_t p = names.owner(v);
      ++shares[p].in_edges;
      if (p == names.owner(u) || last[p] == u) continue;
      last[p] = u;
      sources[p].push_back(u);
    }
  return sources;
}

/// Returns the memory of a process. A dense kernel uses slots here; cover needs no more memory than that.
std::uint64_t memory_of(std::string_view kernel, const GraphShares& graph) {
  if (!kernels::descriptor_of(kernel).dense) return frontier_memory(kernel, graph);
  const ProcessShare& share = graph.processes.front();
  return dense_memory({.processes = static_cast<int>(graph.processes.size()),
                       .vertices = share.owned,
                       .edges = share.edges,
                       .values = share.boundary});
}

}  // namespace

std::uint64_t dense_memory(const DenseShare& share) {
  double bytes = std::max(building(share), iterating(share));
  if (share.processes > 1 && share.edges_owned)
    bytes = std::max(iterating(share), of_block(share));
  else if (share.processes > 1 && share.strategy == Strategy::cover)
    bytes = std::max(bytes, making_covers(share));
  return static_cast<std::uint64_t>(bytes) + kWeightByte * share.weight_bytes * share.edges;
}

GraphShares count_shares(const Graph& graph, const partition::Ownership& ownership) {
  GraphShares all{graph.vertices(), graph.edges(), graph.symmetric(),
                  std::vector<ProcessShare>(static_cast<std::size_t>(ownership.processes()))};
  auto& shares = all.processes;
  kernels::Names names(graph, ownership);
  const auto sources =
      graph.symmetric() ? std::vector<std::vector<VertexId>>() : sources_of(graph, names, shares);
  for (std::uint32_t p = 0; p < shares.size(); ++p) {
    ProcessShare& share = shares[p];
    share.owned = ownership.count(p);
    for (LocalNumber local{}; local < share.owned; ++local)
      for (const VertexId v : graph::Row{graph, ownership.vertex(p, local)}.targets()) {
        ++share.edges;
        if (!names.add(p, v)) continue;
        ++share.boundary;
        ++shares[names.owner(v)].told;
      }
    if (graph.symmetric()) continue;
    share.boundary_both = share.boundary;
    for (const VertexId u : sources[p]) {
      if (!names.add(p, u)) continue;
      ++share.boundary_both;
      ++shares[names.owner(u)].told_both;  // the edges out of it come below
    }
  }
  for (ProcessShare& share : shares) {
    if (graph.symmetric()) {
      share.in_edges = share.edges;
      share.boundary_both = share.boundary;
    }
    share.told_both += share.told;
  }
  return all;
}

GraphShares estimate_shares(std::uint64_t vertices, std::uint64_t edges, bool symmetric, int processes) {
  if (vertices == 0 || vertices > graph::kMaxVertices)
    throw UsageError(fmt::format("vertices: {} is outside the range 1 to {}{}", vertices, graph::kMaxVertices,
                                 vertices == 0 ? "" : graph::kMoreVertices));
  if (edges > graph::kMaxEdges)
    throw UsageError(fmt::format("edges: {} is more than the supported {}", edges, graph::kMaxEdges));
  const double of_all = static_cast<double>(vertices), parts = processes;
  const auto at_boundary = [&](double ends) -> std::uint64_t {
    if (ends == 0) return 0;  // with a single vertex the sum below is NaN
    const double others = of_all * (1 - 1 / parts);
    return static_cast<std::uint64_t>(others * -std::expm1(ends * std::log1p(-1 / of_all)));
  };
  ProcessShare share;
  share.owned =
      (vertices + static_cast<std::uint64_t>(processes) - 1) / static_cast<std::uint64_t>(processes);
  share.edges = share.in_edges = edges / static_cast<std::uint64_t>(processes);
  share.boundary = share.told = at_boundary(static_cast<double>(share.edges));
  share.boundary_both = share.told_both =
      symmetric ? share.boundary : at_boundary(2 * static_cast<double>(share.edges));
  return {vertices, edges, symmetric, std::vector<ProcessShare>(static_cast<std::size_t>(processes), share)};
}

std::uint64_t frontier_memory(std::string_view kernel, const GraphShares& shares) {
  const kernels::Descriptor& found = kernels::descriptor_of(kernel);
  if (found.dense) throw UsageError(fmt::format("there is no prediction of the memory of {}", kernel));
  std::uint64_t most = 0;
  for (const ProcessShare& share : shares.processes) {
    const std::uint64_t job = shares.processes.size() == 1 ? 0 : kBoundary.of(share) + blocks(shares, share);
    most = std::max(most, kFrontierProgram + job + kernel_bytes(found.memory, shares, share));
  }
  return most;
}

std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates) {
  report::Table table{{"processes", "vertices each", "edges each", "boundary vertices", "memory"}, ""};
  for (const GraphShares& graph : estimates) {
    const ProcessShare& share = graph.processes.front();
    table.rows.push_back({std::to_string(graph.processes.size()), std::to_string(share.owned),
                          std::to_string(share.edges), std::to_string(share.boundary),
                          readable_bytes(memory_of(kernel, graph))});
  }
  return fmt::format(
             "{}{}, {} vertices, {} edges: memory of a process, estimated for processes with as many "
             "vertices and edges each, and edges that lead to any vertex equally often\n",
             kernel, kernels::descriptor_of(kernel).dense ? " with slots" : "", estimates.front().vertices,
             estimates.front().edges) +
         to_text(table);
}

std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates) {
  report::Json rows = report::Json::array();
  for (const GraphShares& graph : estimates) {
    const ProcessShare& share = graph.processes.front();
    rows.push_back({{"processes", graph.processes.size()},
                    {"vertices", graph.vertices},
                    {"edges", graph.edges},
                    {"vertices_each", share.owned},
                    {"edges_each", share.edges},
                    {"boundary_vertices", share.boundary},
                    {"memory_bytes", memory_of(kernel, graph)}});
  }
  const report::Json json{{"kernel", kernel}, {"version", EDGEWIRE_VERSION}, {"rows", rows}};
  return report::json_text(json, 1) + "\n";
}

}  // namespace edgewire::bounds
