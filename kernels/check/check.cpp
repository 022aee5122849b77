#include "kernels/check/check.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "graph/file/vertex_names.h"

namespace edgewire::kernels {

namespace {

std::string level_text(std::uint32_t level) {
  return level == kNoLevel ? "is not reached" : fmt::format("has level {}", level);
}

}  // namespace

std::string vertex_name(const Graph& graph, VertexId vertex) {
  return "vertex " + graph::VertexNames(graph)(vertex);
}

// Why this is enough. By the second rule there is a path of as many edges as the level says: each vertex but
// the source has an edge from the level below, and only the source has level 0. So no level is too low, and
// whatever has a level is reachable. By the first rule no level is too high: it grows by at most 1 along each
// edge of a shortest path.
std::string check_bfs(const Graph& graph, VertexId source, std::span<const std::uint32_t> levels,
                      std::span<const PlainId> parents) {
  const std::uint64_t vertices = graph.vertices();
  graph.verify_rows(0, vertices);
  if (levels[source] != 0)
    return vertex_name(graph, source) + " is the source and " + level_text(levels[source]);
  std::vector<bool> supported(vertices), has_parent(vertices);
  for (VertexId u{}; u < vertices; ++u) {
    if (levels[u] == kNoLevel) continue;
    const std::uint64_t next = std::uint64_t{levels[u]} + 1;
    for (const VertexId v : graph::Row{graph, u}.targets()) {
      if (levels[v] == kNoLevel || levels[v] > next) {
        return fmt::format("{} {}, but has an edge from {} at level {}", vertex_name(graph, v),
                           level_text(levels[v]), vertex_name(graph, u), levels[u]);
      }
      if (levels[v] != next) continue;
      supported[v] = true;
      if (!parents.empty() && parents[v] == u) has_parent[v] = true;
    }
  }
  for (VertexId v{}; v < vertices; ++v) {
    const bool reached = levels[v] != kNoLevel;
    if (v != source && reached && !supported[v])
      return fmt::format("{} has level {}, but no edge from the level below", vertex_name(graph, v),
                         levels[v]);
    if (parents.empty()) continue;
    if (!reached && parents[v] != kNoVertex)
      return vertex_name(graph, v) + " is not reached, but has a parent";
    if (v == source && parents[v] != source)
      return vertex_name(graph, v) + " is the source, but not its own parent";
    if (v != source && reached && !has_parent[v])
      return fmt::format("{} has level {}, but no edge from its parent at the level below",
                         vertex_name(graph, v), levels[v]);
  }
  return {};
}

std::string check_level_sizes(std::span<const std::uint32_t> levels, std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> found;
  for (const std::uint32_t level : levels) {
    if (level == kNoLevel) continue;
    if (level >= found.size()) found.resize(level + std::size_t{1});
    ++found[level];
  }
  if (found.size() != sizes.size())
    return fmt::format("there are {} levels, but the run has followed {}", found.size(), sizes.size());
  for (std::size_t l = 0; l < sizes.size(); ++l)
    if (found[l] != sizes[l])
      return fmt::format("level {} has {} vertices, but the run has followed {}", l, found[l], sizes[l]);
  return {};
}

std::string check_wcc(const Graph& graph, std::span<const PlainId> labels) {
  const std::uint64_t vertices = graph.vertices();
  graph.verify_rows(0, vertices);
  // Union find; the root of a tree is the smallest of its vertices.
  std::vector<VertexId> parents(vertices);
  std::iota(parents.begin(), parents.end(), VertexId{});
  const auto root = [&](VertexId v) {
    while (parents[v] != v) v = parents[v] = parents[parents[v]];
    return v;
  };
  for (VertexId u{}; u < vertices; ++u) {
    for (const VertexId v : graph::Row{graph, u}.targets()) {
      if (labels[u] != labels[v])
        return fmt::format("{} has another label than {}, though an edge joins them", vertex_name(graph, v),
                           vertex_name(graph, u));
      const VertexId a = root(u), b = root(v);
      parents[std::max(a, b)] = std::min(a, b);
    }
  }
  for (VertexId v{}; v < vertices; ++v) {
    if (labels[v] == root(v)) continue;
    if (labels[v] < vertices && root(VertexId(labels[v])) != root(v))
      return fmt::format("{} has the label {}, which is a vertex of another component", vertex_name(graph, v),
                         vertex_name(graph, VertexId(labels[v])));
    return fmt::format("the label of {} is not {}, the first vertex of its component", vertex_name(graph, v),
                       vertex_name(graph, root(v)));
  }
  return {};
}

}  // namespace edgewire::kernels
