#include "bounds/frontier_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "edgewire/graph.h"
#include "frontier/boundary.h"
#include "graph/file/format.h"

namespace edgewire::bounds {

namespace {

// These are all constants of the prediction. The comments on memory in src/frontier say where they come from.

/// The bytes of the program with one worker, before it has any part of a graph.
constexpr std::uint64_t kFrontierProgram = 3'100'000;

using frontier::Boundary;
using kernels::ShareBytes;

constexpr ShareBytes kBoundary{.boundary = Boundary::kVertexBytes, .told = Boundary::kToldBytes};
constexpr ShareBytes kKnownRows{.owned = sizeof(std::uint64_t), .edge = sizeof(KnownNumber)};

std::uint64_t blocks(const GraphShares& graph, const ProcessShare& share) {
  return Boundary::kBlockBytes * std::min(share.boundary + share.owned / Boundary::kBlockVertices,
                                          graph.vertices / Boundary::kBlockVertices);
}

/// Returns the share of a process that has the sources of its in-edges at its boundary.
ProcessShare both_ways(ProcessShare share) {
  share.boundary = share.boundary_both;
  share.told = share.told_both;
  return share;
}

std::uint64_t kernel_bytes(const kernels::KernelMemory& kernel, const GraphShares& graph,
                           const ProcessShare& share) {
  const bool several = graph.processes.size() > 1;
  // A single process reads the rows of the file, unless ids are wider than numbers.
  const ShareBytes rows = kernel.follows_rows && (several || kIds64) ? kKnownRows : ShareBytes{};
  const auto bytes_of = [&](const ProcessShare& known) {
    return (rows + (graph.symmetric ? kernel.symmetric : kernel.directed)).of(known) +
           (kernel.more == nullptr ? 0 : kernel.more(graph, known));
  };
  if (graph.symmetric || !kernel.both_ways) return bytes_of(share);
  const ProcessShare both = both_ways(share);
  return bytes_of(both) + (several ? kBoundary.of(both) + blocks(graph, both) : 0);
}

/// Returns, for each process, the vertices of others with an edge to one of its own, each once. Adds the
/// in-edges.
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

}  // namespace

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

}  // namespace edgewire::bounds
