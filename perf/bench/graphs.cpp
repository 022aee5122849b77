#include "perf/bench/graphs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/mixing.h"
#include "edgewire/graph.h"
#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::perf {

namespace {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

class Random : public SplitMix64 {
 public:
  Random() : SplitMix64(1) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
};

PlainGraph from_edges(std::uint32_t vertices, const std::vector<Edge>& edges) {
  PlainGraph graph;
  graph.offsets.assign(std::size_t{vertices} + 1, 0);
  for (const Edge& edge : edges) ++graph.offsets[edge.first + 1];
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  std::vector<std::uint64_t> places = graph.offsets;
  graph.targets.resize(edges.size());
  for (const Edge& edge : edges) graph.targets[places[edge.first]++] = edge.second;
  for (std::uint32_t v = 0; v < vertices; ++v)
    std::sort(graph.targets.data() + graph.offsets[v], graph.targets.data() + graph.offsets[v + 1]);
  return graph;
}

/// The graph whose vertex i is order[i] of `graph`. new_ids: the inverse of `order`.
PlainGraph renumber(const PlainGraph& graph, const std::vector<std::uint32_t>& order,
                    const std::vector<std::uint32_t>& new_ids) {
  PlainGraph renumbered;
  renumbered.offsets.reserve(graph.offsets.size());
  renumbered.targets.reserve(graph.targets.size());
  for (const std::uint32_t v : order) {
    renumbered.offsets.push_back(renumbered.targets.size());
    for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      renumbered.targets.push_back(new_ids[graph.targets[e]]);
    std::sort(renumbered.targets.data() + renumbered.offsets.back(),
              renumbered.targets.data() + renumbered.targets.size());
  }
  renumbered.offsets.push_back(renumbered.targets.size());
  return renumbered;
}

Edge kronecker_edge(int scale, Random& random) {
  Edge edge{0, 0};
  for (int level = 0; level < scale; ++level) {
    const double p = random.uniform();
    edge.first = edge.first * 2 + (p >= 0.76 ? 1 : 0);
    edge.second = edge.second * 2 + ((p >= 0.57 && p < 0.76) || p >= 0.95 ? 1 : 0);
  }
  return edge;
}

PlainGraph make_kronecker(int scale) {
  Random random;
  const std::uint32_t vertices = 1U << scale;
  std::vector<std::uint32_t> new_ids(vertices);
  std::iota(new_ids.begin(), new_ids.end(), 0);
  for (std::uint32_t i = vertices; i > 1; --i) std::swap(new_ids[i - 1], new_ids[random.next() % i]);
  std::vector<Edge> edges(std::size_t{vertices} * 16);
  for (Edge& edge : edges) {
    const Edge made = kronecker_edge(scale, random);
    edge = {new_ids[made.first], new_ids[made.second]};
  }
  return from_edges(vertices, edges);
}

PlainGraph make_uniform(int scale) {
  Random random;
  const std::uint64_t vertices = 1ULL << scale;
  std::vector<Edge> edges(vertices * 16);
  for (Edge& edge : edges)
    edge = {static_cast<std::uint32_t>(random.next() % vertices),
            static_cast<std::uint32_t>(random.next() % vertices)};
  return from_edges(static_cast<std::uint32_t>(vertices), edges);
}

PlainGraph make_grid(int scale) {
  const std::uint32_t columns = 1U << (scale / 2);
  const std::uint32_t vertices = 1U << scale;
  std::vector<Edge> edges;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    if (v % columns != 0) edges.emplace_back(v, v - 1), edges.emplace_back(v - 1, v);
    if (v >= columns) edges.emplace_back(v, v - columns), edges.emplace_back(v - columns, v);
  }
  return from_edges(vertices, edges);
}

PlainGraph make_web(int scale) {
  Random random;
  const std::uint32_t vertices = 1U << scale;
  std::vector<Edge> edges;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const auto links = static_cast<std::uint32_t>(std::min(4.0 / std::sqrt(random.uniform()), 1000.0) * 2);
    const auto site = static_cast<std::uint32_t>(v & ~0xffU);
    for (std::uint32_t i = 0; i < links; ++i) {
      const double kind = random.uniform();
      if (kind < 0.6)  // the pages of a site link to its first ones
        edges.emplace_back(v, site + static_cast<std::uint32_t>(std::pow(random.uniform(), 4.0) * 256));
      else if (kind < 0.9)
        edges.emplace_back(v, (v + static_cast<std::uint32_t>(std::exp(random.uniform() * 9))) % vertices);
      else
        edges.emplace_back(v, static_cast<std::uint32_t>(std::pow(random.uniform(), 6.0) * vertices));
    }
  }
  return from_edges(vertices, edges);
}

}  // namespace

PlainGraph make_graph(const std::string& shape, int scale) {
  if (shape == "kronecker") return make_kronecker(scale);
  if (shape == "uniform") return make_uniform(scale);
  if (shape == "grid") return make_grid(scale);
  if (shape == "web") return make_web(scale);
  throw std::invalid_argument("no such shape: " + shape);
}

PlainGraph read_graph(const std::string& path) {
  const auto file = Graph::open(path);
  file.verify_rows(0, file.vertices());
  return {{file.offsets().begin(), file.offsets().end()}, {file.targets().begin(), file.targets().end()}};
}

PlainGraph order_by_degree(const PlainGraph& graph) {
  std::vector<std::uint64_t> degrees(graph.vertices());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) degrees[v] += graph.offsets[v + 1] - graph.offsets[v];
  for (const std::uint32_t target : graph.targets) ++degrees[target];
  std::vector<std::uint32_t> order(graph.vertices());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return degrees[a] > degrees[b]; });
  std::vector<std::uint32_t> new_ids(graph.vertices());
  for (std::uint32_t i = 0; i < order.size(); ++i) new_ids[order[i]] = i;
  return renumber(graph, order, new_ids);
}

void GraphReader::read(std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const {
  auto &destinations = rows.destinations, &ends = rows.ends;
  const auto begin = graph_.offsets[first];
  ends.clear();
  destinations.assign(graph_.targets.data() + begin, graph_.targets.data() + graph_.offsets[last]);
  for (auto& destination : destinations) destination = address_(destination);
  for (std::uint32_t s = first; s < last; ++s)
    ends.push_back(static_cast<std::uint32_t>(graph_.offsets[s + 1] - begin));
}

topology::WorkerPool make_pool(int workers) {
  return topology::WorkerPool(topology::place(topology::discover(), 0, 1, workers));
}

std::vector<std::uint32_t> cut_columns(const PlainGraph& graph, int workers) {
  std::vector<std::uint32_t> edges_to(graph.vertices());
  for (const std::uint32_t target : graph.targets) ++edges_to[target];
  const std::uint64_t share = graph.targets.size() / (16 * static_cast<std::uint64_t>(workers));
  std::vector<std::uint32_t> bounds{0};
  std::uint64_t edges = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    if (v > bounds.back() && (v - bounds.back() == tiles::kColumnWidth || edges + edges_to[v] > share)) {
      bounds.push_back(v);
      edges = 0;
    }
    edges += edges_to[v];
  }
  bounds.push_back(graph.vertices());
  return bounds;
}

}  // namespace edgewire::perf
