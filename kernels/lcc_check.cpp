#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/check.h"
#include "kernels/plain_neighbours.h"

namespace edgewire::kernels {

namespace {

using Targets = std::span<const VertexId>;

bool has(Targets sorted, VertexId one) { return std::ranges::binary_search(sorted, one); }

/// Calls work(target) for those `targets` that are in `some`, each once. `marked`: [vertex], whether it is.
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

}  // namespace

std::string check_lcc(const graph::GraphFile& graph, std::span<const double> coefficients,
                      std::uint64_t triangles) {
  constexpr double kRounding = 1e-12;
  graph.verify_rows(0, graph.vertices());
  const PlainSources sources(graph);
  std::uint64_t found = 0;
  std::vector<char> marked(graph.vertices());
  for (VertexId v{}; v < graph.vertices(); ++v) {
    const auto neighbours = neighbours_of(graph, sources, v);
    for (const VertexId u : neighbours) marked[u] = 1;
    std::uint64_t edges = 0;
    for (const VertexId u : neighbours) {
      for_each_common(graph::Row{graph, u}.targets(), neighbours, marked, [&](VertexId w) {
        if (u == w) return;
        ++edges;
        // A triangle counts at its smallest vertex, once, also where edges lead both ways between the others.
        if (v < u && v < w && (u < w || !has(graph::Row{graph, w}.targets(), u))) ++found;
      });
    }
    for (const VertexId u : neighbours) marked[u] = 0;
    const auto degree = static_cast<double>(neighbours.size());
    const double right = degree < 2 ? 0 : static_cast<double>(edges) / (degree * (degree - 1));
    if (!(std::fabs(coefficients[v] - right) <= kRounding * right)) {
      return fmt::format("{} has the coefficient {:.17g}, but {} of {:.0f} edges between its neighbours",
                         vertex_name(graph, v), coefficients[v], edges,
                         degree < 2 ? 0 : degree * (degree - 1));
    }
  }
  if (found != triangles) return fmt::format("there are {} triangles, not {}", found, triangles);
  return {};
}

}  // namespace edgewire::kernels
