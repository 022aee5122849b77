// Graphs for tests of kernels: cliques, stars, paths and graphs drawn at random, and the cuts of jobs on
// them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bootstraps.h"
#include "fuzz.h"
#include "graph_test.h"
#include "runs/kernels.h"
#include "transport_fixture.h"

namespace edgewire::runs {

/// A graph, and the cut of jobs on it.
struct Drawn {
  std::unique_ptr<graph::BuiltGraph> built;
  std::string name;
  std::string ownership;
  bool deterministic = false;
  std::vector<VertexId> sources;
  VertexId target{};

  const Graph& graph() const { return built->graph; }
  std::uint64_t vertices() const { return graph().vertices(); }
  Sources named_sources() const {
    Sources found{sources};
    for (const VertexId v : sources) found.names.push_back(std::to_string(v));
    return found;
  }
};

inline std::vector<graph::Edge> edges_of_shape(const std::string& shape, std::uint32_t vertices) {
  std::vector<graph::Edge> edges;
  for (std::uint32_t u = 0; u < vertices; ++u)
    for (std::uint32_t v = 0; v < vertices; ++v)
      if (u != v && (shape == "clique" || (shape == "star" && u == 0) || (shape == "path" && u + 1 == v)))
        edges.emplace_back(u, v, static_cast<float>(1 + (u + v) % 3));
  return edges;
}

inline Drawn draw(std::uint64_t seed, const std::string& shape, std::uint32_t most) {
  std::minstd_rand random(static_cast<std::uint32_t>(seed % 2'000'000'000) + 1);
  random.discard(3);
  const auto below = [&](std::uint64_t end) { return static_cast<std::uint32_t>(random() / 7 % end); };
  const std::uint32_t vertices = shape == "random" ? 1 + below(most) : most;
  const bool both_ways = below(2) == 0;
  Drawn drawn;
  drawn.built = std::make_unique<graph::BuiltGraph>(
      vertices,
      shape == "random" ? graph::random_edges(vertices, below(4) * vertices * (1 + below(3)) / 2,
                                              static_cast<std::uint32_t>(seed))
                        : edges_of_shape(shape, vertices),
      graph::BuildOptions{.weighted = true, .simple = below(4) == 0, .undirected = both_ways});
  drawn.ownership = below(2) == 0 ? "hash" : "ranges";
  drawn.deterministic = below(3) == 0;
  for (int i = 0; i < 2; ++i) drawn.sources.emplace_back(below(vertices));
  if (drawn.sources[0] == drawn.sources[1]) drawn.sources.pop_back();
  std::ranges::sort(drawn.sources);
  drawn.target = VertexId(below(vertices));
  drawn.name = fmt::format("seed {}, {} of {} vertices and {} edges{}, {}", seed, shape, vertices,
                           drawn.graph().edges(), both_ways ? " both ways" : "", drawn.ownership);
  return drawn;
}

/// Calls check(graph, processes) for some shapes.
template <class Check>
void for_each_shape(const Check& check) {
  for (const char* const shape : {"clique", "star", "path"})
    for (const std::uint32_t vertices : {2, 40})
      for (const int processes : {2, 3}) {
        const Drawn drawn = draw(vertices, shape, vertices);
        INFO(drawn.name << ", " << processes << " processes");
        check(drawn, processes);
      }
}

inline constexpr std::uint32_t kMostVertices = 40;  // of graphs drawn at random

/// Does the same with a few graphs drawn at random, or on and on: see fuzz::for_each_seed().
template <class Check>
void for_each_drawn(const Check& check) {
  constexpr std::uint64_t kGraphs = 3;
  const auto graphs = fuzz::for_each_seed(kGraphs, [&](std::uint64_t seed) {
    const Drawn drawn = draw(seed, "random", kMostVertices);
    for (int processes = 1; processes <= 5; ++processes) {
      INFO(drawn.name << ", " << processes << " processes");
      check(drawn, processes);
    }
  });
  if (graphs > kGraphs) MESSAGE(graphs << " graphs");
}

}  // namespace edgewire::runs
