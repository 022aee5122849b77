#include "kernels/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/file/vertex_names.h"
#include "kernels/check/plain.h"

namespace edgewire::kernels {

namespace {

std::string level_text(std::uint32_t level) {
  return level == kNoLevel ? "is not reached" : fmt::format("has level {}", level);
}

/// The path-based search of Gabow ("Path-based depth-first search for strong and biconnected components",
/// 2000), without recursion.
class PathSearch {
 public:
  explicit PathSearch(const Graph& graph)
      : graph_(graph), number_(graph.vertices()), first_(graph.vertices()) {}

  /// Returns, by vertex, the smallest vertex of its component.
  std::vector<VertexId> run() {
    for (VertexId v{}; v < number_.size(); ++v)
      if (number_[v] == 0) search(v);
    return std::move(first_);
  }

 private:
  struct Visit {
    VertexId vertex;
    std::uint64_t next;  ///< index of the edge in its row that is followed next
  };

  void enter(VertexId v) {
    number_[v] = ++count_;
    path_.push_back({v, 0});
    open_.push_back(v);
    borders_.push_back(v);
  }
  void search(VertexId root) {
    enter(root);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      const auto row = graph::Row{graph_, visit.vertex}.targets();
      if (visit.next == row.size()) {
        leave(visit.vertex);
        continue;
      }
      const VertexId target = row[visit.next++];
      if (number_[target] == 0)
        enter(target);
      else if (number_[target] != kDone)  // a cycle: the vertices found since then are one component
        while (number_[borders_.back()] > number_[target]) borders_.pop_back();
    }
  }
  void leave(VertexId v) {
    path_.pop_back();
    if (borders_.back() != v) return;
    borders_.pop_back();
    const auto begin = std::find(open_.rbegin(), open_.rend(), v).base() - 1;
    const VertexId smallest = *std::min_element(begin, open_.end());
    for (auto one = begin; one != open_.end(); ++one) {
      first_[*one] = smallest;
      number_[*one] = kDone;
    }
    open_.erase(begin, open_.end());
  }

  static constexpr std::uint64_t kDone = ~std::uint64_t{0};
  const Graph& graph_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> number_;  ///< numbers in the order of discovery, [vertex]; 0: not yet found
  std::vector<VertexId> first_;
  std::vector<Visit> path_;        ///< path from the root to the vertex whose edges are followed
  std::vector<VertexId> open_;     ///< vertices whose component is not known, as they were found
  std::vector<VertexId> borders_;  ///< vertices of these where components begin, as far as is known
};

using Targets = std::span<const VertexId>;

bool has(Targets sorted, VertexId one) { return std::ranges::binary_search(sorted, one); }

/// Calls work(target) for the `targets` that are marked, each once. `marked`: by vertex.
template <class Work>
void for_each_common(Targets targets, const std::vector<VertexId>& some, const std::vector<char>& marked,
                     const Work& work) {
  constexpr std::size_t kMuchLonger = 16;
  if (targets.size() / kMuchLonger > some.size()) {
    for (const VertexId w : some)
      if (has(targets, w)) work(w);
    return;
  }
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (marked[targets[i]] != 0 && (i == 0 || targets[i] != targets[i - 1])) work(targets[i]);
}

/// The neighbours of a vertex, and the edges and triangles between them.
struct Between {
  std::uint64_t neighbours = 0, edges = 0;
  std::uint64_t triangles = 0;  ///< number of pairs of neighbours with an edge between them, or two
};

/// Returns the fault of the number of triangles, or the first one that check(vertex, between) finds.
template <class Check>
std::string check_vertices(const Graph& graph, std::uint64_t triangles, const Check& check) {
  graph.verify_rows(0, graph.vertices());
  const PlainSources sources(graph);
  std::uint64_t corners = 0;
  std::vector<char> marked(graph.vertices());
  for (VertexId v{}; v < graph.vertices(); ++v) {
    const auto neighbours = neighbours_of(graph, sources, v);
    for (const VertexId u : neighbours) marked[u] = 1;
    Between between{.neighbours = neighbours.size()};
    for (const VertexId u : neighbours) {
      for_each_common(graph::Row{graph, u}.targets(), neighbours, marked, [&](VertexId w) {
        if (u == w) return;
        ++between.edges;
        // A pair counts once, also where edges lead both ways.
        if (u < w || !has(graph::Row{graph, w}.targets(), u)) ++between.triangles;
      });
    }
    for (const VertexId u : neighbours) marked[u] = 0;
    if (auto fault = check(v, between); !fault.empty()) return fault;
    corners += between.triangles;
  }
  if (corners != 3 * triangles) return fmt::format("there are {} triangles, not {}", corners / 3, triangles);
  return {};
}

}  // namespace

std::string vertex_name(const Graph& graph, VertexId vertex) {
  return "vertex " + graph::VertexNames(graph)(vertex);
}

// Why this is enough. By the second rule there is a path of as many edges as the level says: each vertex but
// the source has an edge from the level below, and only the source has level 0. So no level is too low, and
// whatever has a level is reachable. By the first rule no level is too high: it grows by at most 1 an edge.
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

std::string check_scc(const Graph& graph, std::span<const PlainId> labels) {
  graph.verify_rows(0, graph.vertices());
  const auto right = PathSearch(graph).run();
  for (VertexId v{}; v < right.size(); ++v) {
    if (labels[v] == right[v]) continue;
    const graph::VertexNames names(graph);
    return fmt::format("vertex {} has the label {}, but the first vertex of its component is vertex {}",
                       names(v), labels[v] < right.size() ? names(VertexId(labels[v])) : "of no vertex",
                       names(right[v]));
  }
  return {};
}

std::string check_cdlp(const Graph& graph, std::uint64_t iterations, std::span<const PlainId> labels) {
  graph.verify_rows(0, graph.vertices());
  const PlainSources sources(graph);
  std::vector<std::uint64_t> ids(graph.vertices());
  for (VertexId v{}; v < ids.size(); ++v) ids[v] = graph.original_id(v);
  auto right = ids;
  for (std::uint64_t done = 0; done < iterations; ++done) {
    auto next = right;
    for (VertexId v{}; v < ids.size(); ++v) {
      std::map<std::uint64_t, std::uint64_t> votes;
      each_neighbour(graph, sources, v, [&](VertexId u) { ++votes[right[u]]; });
      std::uint64_t most = 0;
      for (const auto& [label, count] : votes)
        if (count > most) most = count, next[v] = label;
    }
    if (next == right) break;
    right = std::move(next);
  }
  for (VertexId v{}; v < ids.size(); ++v) {
    if (labels[v] < ids.size() && ids[labels[v]] == right[v]) continue;
    const graph::VertexNames names(graph);
    return fmt::format("vertex {} has the label {}, which is not the most frequent one around it", names(v),
                       labels[v] < ids.size() ? names(VertexId(labels[v])) : "of no vertex");
  }
  return {};
}

std::string check_lcc(const Graph& graph, std::span<const double> coefficients, std::uint64_t triangles) {
  constexpr double kRounding = 1e-12;
  return check_vertices(graph, triangles, [&](VertexId v, const Between& between) -> std::string {
    const auto degree = static_cast<double>(between.neighbours);
    const double pairs = degree < 2 ? 0 : degree * (degree - 1);
    const double right = pairs == 0 ? 0 : static_cast<double>(between.edges) / pairs;
    if (std::fabs(coefficients[v] - right) <= kRounding * right) return {};
    return fmt::format("{} has the coefficient {:.17g}, but {} of {:.0f} edges between its neighbours",
                       vertex_name(graph, v), coefficients[v], between.edges, pairs);
  });
}

std::string check_triangles(const Graph& graph, std::span<const std::uint64_t> of_vertices,
                            std::uint64_t triangles) {
  return check_vertices(graph, triangles, [&](VertexId v, const Between& between) -> std::string {
    if (of_vertices.empty() || of_vertices[v] == between.triangles) return {};
    return fmt::format("{} is said to be a corner of {} triangles, but is one of {}", vertex_name(graph, v),
                       of_vertices[v], between.triangles);
  });
}

}  // namespace edgewire::kernels
