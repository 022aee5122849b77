// A random graph in memory, for tests that count.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "dense/plan/count.h"

namespace edgewire::plan {

struct RandomRows {
  std::vector<std::uint64_t> offsets{0};
  std::vector<VertexId> targets;
  Rows rows() const { return {offsets, targets}; }
};

/// Returns a skewed graph: small ids are drawn more often. It has duplicates and self loops.
inline RandomRows random_graph(std::uint32_t vertices, std::uint32_t degree, unsigned seed) {
  std::mt19937 random(seed);
  RandomRows graph;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::vector<VertexId> row(random() % (2 * degree + 1));
    for (auto& target : row) {
      target = VertexId(static_cast<std::uint32_t>(random() % (random() % vertices + 1)));
    }
    std::sort(row.begin(), row.end());
    graph.targets.insert(graph.targets.end(), row.begin(), row.end());
    graph.offsets.push_back(graph.targets.size());
  }
  return graph;
}

template <class Work>
void each_edge(const RandomRows& graph, const Work& work) {
  for (VertexId v{}; v + 1 < graph.offsets.size(); ++v) {
    for (auto e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) work(v, graph.targets[e]);
  }
}

inline void check_equal(const Traffic& counted, const Traffic& expected) {
  REQUIRE(counted.processes() == expected.processes());
  const auto processes = static_cast<std::size_t>(expected.processes());
  for (std::size_t p = 0; p < processes; ++p) {
    for (std::size_t q = 0; q < processes; ++q) CHECK(counted.at(p, q) == expected.at(p, q));
  }
}

}  // namespace edgewire::plan
