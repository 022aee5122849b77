#include "kernels/descriptor.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "graph/file/vertex_names.h"
#include "options/kernels.h"

namespace edgewire::kernels {

namespace {

/// The bytes of an id, of a number in a process, of a level, and of the widest distance.
constexpr std::uint64_t kId = sizeof(PlainId), kNumber = sizeof(KnownNumber), kLevel = sizeof(std::uint32_t),
                        kDistance = sizeof(double);

// The bytes of memory are constants of a prediction; the kernels' headers say where they come from.

/// The memory of bfs: levels, and the two lists of a frontier.
constexpr ShareBytes kBreadthFirst{.owned = kLevel + kNumber};
/// The memory of sssp: the lowest distance, and of a boundary vertex the one sent; results, and lists.
constexpr ShareBytes kShortestPaths{.owned = 2 * kDistance + kNumber, .boundary = 2 * kDistance};
/// The memory of wcc: the forest and the labels.
constexpr ShareBytes kComponents{.owned = kNumber + kId, .boundary = kNumber};
/// The memory of bc: paths and shares of all, sums, scores, those of the result, which come when the list of
/// unvisited vertices is gone, and the order in which vertices were reached. Beside these the processes that
/// have told of them, twice while a level is put together.
constexpr ShareBytes kBetweenness{.owned = 44, .boundary = 24, .told = 16};
/// The memory of cdlp: labels of all, the next ones, and those of the result.
constexpr ShareBytes kLabels{.owned = 3 * kId, .boundary = kId};
/// The memory of InRows: the sources of in-edges by vertex, which become rows of known vertices.
constexpr ShareBytes kInRows{.owned = 8, .in_edge = kId};
/// The memory of scc: labels, those of the result, counts of edges both ways, and RestRows without edges. It
/// also has sides of all vertices, and which vertices of others have edges that are kept.
constexpr ShareBytes kStrong{.owned = 32 + 3 * kId, .boundary = 5 + kId};
/// The memory of lcc: heads and numbers of oriented rows, for each known vertex. Later it has cells of a
/// worker, ids of BoundaryRows, the rows that are to come and go, and credits.
constexpr ShareBytes kOriented{.owned = 24, .boundary = 24},
    kIntersected{.owned = 4 + kId, .boundary = 12 + kId, .told = 12}, kCredits{.owned = 8, .boundary = 8};

/// Returns the bytes of rows of lcc that travel at a time, out and in. `hubs`: whether to add bits of hubs.
std::uint64_t travelling_rows(const GraphShares& graph, const ProcessShare& share, bool hubs) {
  constexpr std::uint64_t kLeastBatch = 1 << 18, kMostBatch = 1 << 22, kWord = sizeof(PlainId),
                          kBitsOfHub = 4, kMostBits = 64 << 20;
  const std::uint64_t processes = graph.processes.size();
  const std::uint64_t entries = graph.symmetric ? share.edges / 2 : share.edges;
  const std::uint64_t batch =
      std::min(std::clamp(graph.edges / 4 / processes, kLeastBatch, kMostBatch), entries * (processes - 1));
  return 2 * kWord * batch + (graph.symmetric ? 0 : kWord / 4 * batch) +
         (hubs ? std::min(kMostBits, kBitsOfHub * (entries + batch)) : 0);
}

/// Returns the rest of the memory of lcc, or of tc, which treats edges as undirected and keeps no credits.
/// Where edges have a direction, InRows are there while rows are oriented.
template <bool kOfTc>
std::uint64_t triangles(const GraphShares& graph, const ProcessShare& share) {
  constexpr std::uint64_t kEntry = 4, kBothWays = 1;
  const std::uint64_t later = kIntersected.of(share) + (kOfTc ? 0 : kCredits.of(share)) +
                              travelling_rows(graph, share, kOfTc || graph.symmetric);
  if (graph.symmetric) return kEntry * share.edges / 2 + later;
  return (kEntry + kBothWays) * share.edges + std::max(kInRows.of(share), later);
}

/// Returns the memory of a kernel that takes the same memory in graphs of all kinds.
constexpr KernelMemory same(const ShareBytes& bytes) { return {.symmetric = bytes, .directed = bytes}; }
/// Returns the memory of a kernel that finds triangles.
constexpr KernelMemory of_triangles(std::uint64_t (*more)(const GraphShares&, const ProcessShare&)) {
  return {
      .symmetric = kOriented, .directed = kOriented, .follows_rows = false, .both_ways = true, .more = more};
}

constexpr std::array kDescriptors{
    Descriptor{.name = "pagerank", .dense = true, .has_iterations = true},
    Descriptor{.name = "ppr", .dense = true, .has_iterations = true},
    Descriptor{.name = "spmv", .dense = true, .has_iterations = true},
    Descriptor{
        .name = "bfs",
        .has_source = true,
        .count = [](const Graph& graph, VertexId source, auto) { return count_breadth_first(graph, source); },
        .memory = same(kBreadthFirst)},
    Descriptor{.name = "sssp",
               .has_source = true,
               .count = [](const Graph& graph, VertexId source,
                           auto) { return count_shortest_paths(graph, source); },
               .memory = same(kShortestPaths)},
    Descriptor{.name = "wcc",
               .count = [](const Graph& graph, auto, auto) { return count_components(graph); },
               .memory = same(kComponents)},
    Descriptor{.name = "scc",
               .count = [](const Graph& graph, auto, auto) { return count_strong_components(graph); },
               .memory = {.symmetric = kComponents, .directed = kStrong}},
    Descriptor{
        .name = "bc",
        .has_source = true,
        .count = [](const Graph& graph, VertexId source, auto) { return count_betweenness(graph, source); },
        .memory = same(kBetweenness)},
    Descriptor{
        .name = "cdlp",
        .has_iterations = true,
        .count = [](const Graph& graph, auto, auto iterations) { return count_labels(graph, iterations); },
        .memory = {.symmetric = kLabels, .directed = kInRows + kLabels, .both_ways = true}},
    Descriptor{.name = "lcc",
               .count = [](const Graph& graph, auto, auto) { return count_triangles(graph, "lcc", true); },
               .memory = of_triangles(triangles<false>)},
    Descriptor{.name = "tc",
               .count = [](const Graph& graph, auto, auto) { return count_triangles(graph, "tc", false); },
               .memory = of_triangles(triangles<true>)},
};

}  // namespace

std::span<const Descriptor> descriptors() { return kDescriptors; }

const Descriptor& descriptor_of(std::string_view kernel) {
  const auto found = std::ranges::find(kDescriptors, kernel, &Descriptor::name);
  if (found == kDescriptors.end()) throw UsageError(fmt::format("there is no kernel {}", kernel));
  return *found;
}

disk::VertexBytes vertex_bytes(std::string_view kernel) {
  const ShareBytes& bytes = descriptor_of(kernel).memory.symmetric;
  return {bytes.owned, bytes.boundary + bytes.told};
}

FrontierCount count_of(const CountedRun& run, const Graph& graph) {
  const Descriptor& kernel = descriptor_of(run.kernel);
  if (kernel.count == nullptr) throw UsageError(fmt::format("there is no count of {}", run.kernel));
  if (!kernel.has_source) return kernel.count(graph, {}, run.iterations);
  const auto source = graph::VertexNames(graph).find(run.source);
  if (!source) throw Error(fmt::format("{}: {} has no such vertex", opt::source(run.source), graph.path()));
  return kernel.count(graph, *source, run.iterations);
}

void check_frontier_ownerships(std::string_view kernel, const std::vector<std::string>& ownerships) {
  for (const auto& one : ownerships) {
    if (one == "auto")
      throw UsageError(
          fmt::format("{} counts what pagerank would send: name hash, ranges or a partition file",
                      opt::ownership("auto")));
    if (partition::owns_edges(one))
      throw UsageError(fmt::format("{}: {} needs owners of vertices: hash, ranges or a partition file",
                                   opt::ownership(one), kernel));
  }
}

}  // namespace edgewire::kernels
