#include "perf/frontier_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "edgewire/graph.h"
#include "graph/format.h"
#include "kernels/count.h"

namespace edgewire::perf {

namespace {

// These are all constants of the prediction. The comments on memory in src/frontier say where they come from.

/// The program itself takes so many bytes with one worker, before it has any part of a graph.
constexpr std::uint64_t kFrontierProgram = 3'100'000;
/// The vertices of one owner whose boundary vertices are found together, and the bytes for them (Boundary).
constexpr std::uint64_t kBlockVertices = 64, kBlockBytes = 16;

/// The bytes for one of each.
struct Bytes {
  std::uint64_t owned = 0, boundary = 0, told = 0, edge = 0, in_edge = 0;

  Bytes operator+(const Bytes& more) const {
    return {owned + more.owned, boundary + more.boundary, told + more.told, edge + more.edge,
            in_edge + more.in_edge};
  }
};

/// The bytes of an id.
constexpr std::uint64_t kId = sizeof(PlainId);

constexpr Bytes kBoundary{.boundary = 4, .told = 4};
constexpr Bytes kKnownRows{.owned = 8, .edge = 4};
/// bfs has levels, and the two lists of a frontier.
constexpr Bytes kBreadthFirst{.owned = 8};
/// sssp has the lowest distance that is known, and for a boundary vertex also the one that was sent; values
/// of the result, and lists.
constexpr Bytes kShortestPaths{.owned = 20, .boundary = 16};
/// wcc has the forest and the labels.
constexpr Bytes kComponents{.owned = 4 + kId, .boundary = 4};
/// bc has paths and shares of all, sums, scores, those of the result, and the order in which vertices were
/// reached. It also has who has asked for them, twice while a level is put together.
constexpr Bytes kBetweenness{.owned = 44, .boundary = 24, .told = 24};
/// cdlp has labels of all, the next ones, and those of the result.
constexpr Bytes kLabels{.owned = 3 * kId, .boundary = kId};
/// InRows has the sources of in-edges by vertex, which become rows of known vertices.
constexpr Bytes kInRows{.owned = 8, .in_edge = kId};
/// scc has labels, those of the result, counts of edges both ways, and RestRows without edges. It also has
/// sides of all vertices, and which vertices of others have edges that are kept.
constexpr Bytes kStrong{.owned = 32 + 3 * kId, .boundary = 5 + kId};
/// lcc has heads and numbers of oriented rows, for each known vertex. Later it has credits, cells of a
/// worker, ids of BoundaryRows, and the rows that are to come and go.
constexpr Bytes kOriented{.owned = 24, .boundary = 24},
    kIntersected{.owned = 12 + kId, .boundary = 20 + kId, .told = 12};

std::uint64_t of(const Bytes& bytes, const ProcessShare& share) {
  return bytes.owned * share.owned + bytes.boundary * share.boundary + bytes.told * share.told +
         bytes.edge * share.edges + bytes.in_edge * share.in_edges;
}

std::uint64_t blocks(const GraphShares& graph, const ProcessShare& share) {
  return kBlockBytes *
         std::min(share.boundary + share.owned / kBlockVertices, graph.vertices / kBlockVertices);
}

/// Returns the share of a process that has the sources of its in-edges at its boundary.
ProcessShare both_ways(ProcessShare share) {
  share.boundary = share.boundary_both;
  share.told = share.told_both;
  return share;
}

/// Returns the bytes of rows of lcc that travel at a time, out and in. In symmetric graphs it adds bits of
/// hubs, as many as the rows that are there.
std::uint64_t travelling_rows(const GraphShares& graph, const ProcessShare& share) {
  constexpr std::uint64_t kLeastBatch = 1 << 18, kMostBatch = 1 << 22, kWord = sizeof(PlainId),
                          kBitsOfHub = 4, kMostBits = 64 << 20;
  const std::uint64_t processes = graph.processes.size();
  const std::uint64_t entries = graph.symmetric ? share.edges / 2 : share.edges;
  const std::uint64_t batch =
      std::min(std::clamp(graph.edges / 4 / processes, kLeastBatch, kMostBatch), entries * (processes - 1));
  if (!graph.symmetric) return (2 * kWord + kWord / 4) * batch;
  return 2 * kWord * batch + std::min(kMostBits, kBitsOfHub * (entries + batch));
}

/// Returns the memory of lcc; `share` has the neighbours in both directions. Where edges have a direction,
/// InRows are there while rows are oriented.
std::uint64_t triangles(const GraphShares& graph, const ProcessShare& share) {
  constexpr std::uint64_t kEntry = 4, kBothWays = 1;
  const std::uint64_t later = of(kIntersected, share) + travelling_rows(graph, share);
  if (graph.symmetric) return of(kOriented, share) + kEntry * share.edges / 2 + later;
  return of(kOriented, share) + (kEntry + kBothWays) * share.edges + std::max(of(kInRows, share), later);
}

/// Returns the bytes of a kernel that has the same in graphs of all kinds, without rows; else nothing.
std::optional<Bytes> simple_kernel(std::string_view kernel) {
  if (kernel == "bfs") return kBreadthFirst;
  if (kernel == "sssp") return kShortestPaths;
  if (kernel == "bc") return kBetweenness;
  if (kernel == "wcc") return kComponents;
  return {};
}

std::uint64_t kernel_bytes(std::string_view kernel, const GraphShares& graph, const ProcessShare& share) {
  const bool several = graph.processes.size() > 1;
  // One process reads those of the file, unless ids are wider than numbers.
  const Bytes rows = several || kIds64 ? kKnownRows : Bytes{};
  if (const auto simple = simple_kernel(kernel)) return of(rows + *simple, share);
  if (kernel == "scc" && graph.symmetric) return of(rows + kComponents, share);
  if (kernel == "scc") return of(rows + kStrong, share);
  if (kernel != "cdlp" && kernel != "lcc")
    throw UsageError(fmt::format("there is no prediction of the memory of {}", kernel));
  if (graph.symmetric) return kernel == "lcc" ? triangles(graph, share) : of(rows + kLabels, share);
  const ProcessShare both = both_ways(share);
  const std::uint64_t more = several ? of(kBoundary, both) + blocks(graph, both) : 0;
  if (kernel == "lcc") return more + triangles(graph, both);
  return more + of(rows + kInRows + kLabels, both);
}

/// Returns for each process the vertices of others with an edge to one of its own, once each. Adds the
/// in-edges.
std::vector<std::vector<VertexId>> sources_of(const graph::GraphFile& graph, const kernels::Names& names,
                                              std::vector<ProcessShare>& shares) {
  std::vector<std::vector<VertexId>> sources(shares.size());
  std::vector<VertexId> last(shares.size(), VertexId(kNoVertex));  // [process]: that was put there
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

}  // namespace

GraphShares count_shares(const graph::GraphFile& graph, const partition::Ownership& ownership) {
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
      ++shares[names.owner(u)].told_both;  // those of edges out of it come below
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
    throw UsageError(fmt::format("vertices: {} are not 1 to {}{}", vertices, graph::kMaxVertices,
                                 vertices == 0 ? "" : graph::kMoreVertices));
  if (edges > graph::kMaxEdges)
    throw UsageError(
        fmt::format("edges: {} are more than the {} that are supported", edges, graph::kMaxEdges));
  const double of_all = static_cast<double>(vertices), parts = processes;
  const auto at_boundary = [&](double ends) -> std::uint64_t {
    if (ends == 0) return 0;  // with a single vertex the sum below is no number
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

disk::VertexBytes vertex_bytes(std::string_view kernel) {
  const Bytes bytes = simple_kernel(kernel).value() + kBoundary;
  constexpr std::uint64_t kFewBlocks = 1;
  return {bytes.owned, bytes.boundary + bytes.told + kFewBlocks};
}

std::uint64_t frontier_memory(std::string_view kernel, const GraphShares& shares) {
  std::uint64_t most = 0;
  for (const ProcessShare& share : shares.processes) {
    const std::uint64_t job = shares.processes.size() == 1 ? 0 : of(kBoundary, share) + blocks(shares, share);
    most = std::max(most, kFrontierProgram + job + kernel_bytes(kernel, shares, share));
  }
  return most;
}

}  // namespace edgewire::perf
