#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/check/check.h"
#include "kernels/check/plain_neighbours.h"

namespace edgewire::kernels {

namespace {

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

/// Returns the fault of the number of triangles, or the first one that check(vertex, between) finds: a line
/// of text that is not empty.
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
