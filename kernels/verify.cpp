#include "kernels/verify.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "graph/row.h"
#include "graph/vertex_names.h"

namespace edgewire::kernels {

namespace {

using Vertex = std::uint32_t;

std::string name(const graph::GraphFile& graph, Vertex v) { return "vertex " + graph::VertexNames(graph)(v); }

std::string level_text(Vertex level) {
  return level == kNoLevel ? "is not reached" : fmt::format("has level {}", level);
}

bool near(double a, double b) { return std::fabs(a - b) <= kDistanceTolerance * b; }

/// The edges of a row with their weights.
struct WeightedRow {
  WeightedRow(const graph::GraphFile& graph, Vertex v, bool unit)
      : targets(graph::Row{graph, v}.targets()),
        weights(unit ? graph::Weights() : graph::Row{graph, v}.weights()) {}
  double weight(std::size_t edge) const { return weights.empty() ? 1 : weights[edge]; }

  std::span<const Vertex> targets;
  graph::Weights weights;
};

/// A row's edges that are too short for the distances at their ends; "" when there are none.
std::string check_edges(const graph::GraphFile& graph, Vertex u, std::span<const float> distances,
                        bool unit) {
  const WeightedRow row(graph, u, unit);
  for (std::size_t e = 0; e < row.targets.size(); ++e) {
    const Vertex v = row.targets[e];
    const double way = static_cast<double>(distances[u]) + row.weight(e);
    if (static_cast<double>(distances[v]) > way * (1 + kDistanceTolerance)) {
      return fmt::format("{} has distance {:.9g}, but the way over {} has length {:.9g}", name(graph, v),
                         distances[v], name(graph, u), way);
    }
  }
  return {};
}

/// The vertices to which edges lead that explain their distances, each starting where another one ends.
std::vector<bool> explained_from(const graph::GraphFile& graph, Vertex source,
                                 std::span<const float> distances, bool unit) {
  std::vector<bool> explained(distances.size());
  std::vector<Vertex> open = {source};
  explained[source] = true;
  while (!open.empty()) {
    const Vertex u = open.back();
    open.pop_back();
    const WeightedRow row(graph, u, unit);
    for (std::size_t e = 0; e < row.targets.size(); ++e) {
      const Vertex v = row.targets[e];
      if (explained[v] || !near(distances[v], static_cast<double>(distances[u]) + row.weight(e))) continue;
      explained[v] = true;
      open.push_back(v);
    }
  }
  return explained;
}

}  // namespace

// Why this is enough. By the second rule there is a path of as many edges as the level says: each vertex but
// the source has an edge from the level below, and only the source has level 0. So no level is too low, and
// whatever has a level is reachable. By the first rule no level is too high: it grows by at most 1 along each
// edge of a shortest path.
std::string check_bfs(const graph::GraphFile& graph, std::uint32_t source,
                      std::span<const std::uint32_t> levels, std::span<const std::uint32_t> parents) {
  const auto vertices = static_cast<Vertex>(graph.vertices());
  graph.verify_rows(0, vertices);
  if (levels[source] != 0) return name(graph, source) + " is the source and " + level_text(levels[source]);
  std::vector<bool> supported(vertices), has_parent(vertices);
  for (Vertex u = 0; u < vertices; ++u) {
    if (levels[u] == kNoLevel) continue;
    const std::uint64_t next = std::uint64_t{levels[u]} + 1;
    for (const Vertex v : graph::Row{graph, u}.targets()) {
      if (levels[v] == kNoLevel || levels[v] > next) {
        return fmt::format("{} {}, but has an edge from {} at level {}", name(graph, v),
                           level_text(levels[v]), name(graph, u), levels[u]);
      }
      if (levels[v] != next) continue;
      supported[v] = true;
      if (!parents.empty() && parents[v] == u) has_parent[v] = true;
    }
  }
  for (Vertex v = 0; v < vertices; ++v) {
    const bool reached = levels[v] != kNoLevel;
    if (v != source && reached && !supported[v])
      return fmt::format("{} has level {}, but no edge from the level below", name(graph, v), levels[v]);
    if (parents.empty()) continue;
    if (!reached && parents[v] != kNoLevel) return name(graph, v) + " is not reached, but has a parent";
    if (v == source && parents[v] != source) return name(graph, v) + " is the source, but not its own parent";
    if (v != source && reached && !has_parent[v])
      return fmt::format("{} has level {}, but no edge from its parent at the level below", name(graph, v),
                         levels[v]);
  }
  return {};
}

// Why this is enough. No distance is too long: it satisfies each edge of a shortest path. None is too short:
// the edges that explain it form a path from the source of just that length. They are followed from the
// source on, so edges of weight 0 in a circle do not explain one another.
std::string check_sssp(const graph::GraphFile& graph, std::uint32_t source, std::span<const float> distances,
                       bool unit_weights) {
  const auto vertices = static_cast<Vertex>(graph.vertices());
  graph.verify_rows(0, vertices);
  for (Vertex v = 0; v < vertices; ++v) {
    if (!(distances[v] >= 0))
      return fmt::format("{} has distance {:.9g}, which is none", name(graph, v), distances[v]);
  }
  if (distances[source] != 0)
    return fmt::format("{} is the source and has distance {:.9g}, not 0", name(graph, source),
                       distances[source]);
  for (Vertex u = 0; u < vertices; ++u) {
    if (auto fault = check_edges(graph, u, distances, unit_weights); !fault.empty()) return fault;
  }
  const auto explained = explained_from(graph, source, distances, unit_weights);
  for (Vertex v = 0; v < vertices; ++v) {
    if (!explained[v] && !std::isinf(distances[v]))
      return fmt::format("{} has distance {:.9g}, but no way from the source is as short", name(graph, v),
                         distances[v]);
  }
  return {};
}

std::string check_wcc(const graph::GraphFile& graph, std::span<const std::uint32_t> labels) {
  const auto vertices = static_cast<Vertex>(graph.vertices());
  graph.verify_rows(0, vertices);
  // Union find; the root of a tree is the smallest of its vertices.
  std::vector<Vertex> above(vertices);
  std::iota(above.begin(), above.end(), Vertex{0});
  const auto root = [&](Vertex v) {
    while (above[v] != v) v = above[v] = above[above[v]];
    return v;
  };
  for (Vertex u = 0; u < vertices; ++u) {
    for (const Vertex v : graph::Row{graph, u}.targets()) {
      if (labels[u] != labels[v])
        return fmt::format("{} has another label than {}, though an edge joins them", name(graph, v),
                           name(graph, u));
      const Vertex a = root(u), b = root(v);
      above[std::max(a, b)] = std::min(a, b);
    }
  }
  for (Vertex v = 0; v < vertices; ++v) {
    if (labels[v] == root(v)) continue;
    if (labels[v] < vertices && root(labels[v]) != root(v))
      return fmt::format("{} has the label {}, which is a vertex of another component", name(graph, v),
                         name(graph, labels[v]));
    return fmt::format("the label of {} is not {}, the first vertex of its component", name(graph, v),
                       name(graph, root(v)));
  }
  return {};
}

}  // namespace edgewire::kernels
