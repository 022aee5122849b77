// Graphs for kernels of a caller's own that follow a frontier, their levels, and ways to share them out.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <tuple>
#include <vector>

#include "edgewire/options.h"
#include "graph_test.h"

namespace edgewire {

inline constexpr std::uint32_t kFar = ~std::uint32_t{0};

/// Returns the levels of a breadth-first search from vertex 0, by a queue.
inline std::vector<std::uint32_t> plain_levels(std::uint32_t vertices,
                                               const std::vector<graph::Edge>& edges) {
  std::vector<std::vector<std::uint32_t>> rows(vertices);
  for (const auto& [source, target, weight] : edges) rows[source].push_back(target);
  std::vector<std::uint32_t> levels(vertices, kFar), queue{0};
  levels[0] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const std::uint32_t target : rows[queue[i]]) {
      if (levels[target] != kFar) continue;
      levels[target] = levels[queue[i]] + 1;
      queue.push_back(target);
    }
  return levels;
}

/// Returns the edges of a path that leads to a hub, from there to many vertices, and from these together on a
/// path that ends at the hub of another part like it. Levels of one vertex, and levels of many.
inline std::vector<graph::Edge> hubs_on_paths(std::uint32_t parts) {
  constexpr std::uint32_t kPath = 90, kAround = 200;
  std::vector<graph::Edge> edges;
  for (std::uint32_t part = 0, first = 0; part < parts; ++part, first += kPath + kAround) {
    const std::uint32_t hub = first + kPath - 1, next = hub + kAround + 1;
    for (std::uint32_t v = first; v < hub; ++v) edges.emplace_back(v, v + 1, 1.0F);
    for (std::uint32_t v = hub + 1; v < next; ++v) {
      edges.emplace_back(hub, v, 1.0F);
      if (part + 1 < parts) edges.emplace_back(v, next, 1.0F);
    }
  }
  return edges;
}

/// Calls work(options, processes) for some numbers of processes and workers.
template <class Work>
void for_each_cut(const Work& work) {
  for (const int processes : {1, 2, 3})
    for (const int workers : {1, 2})
      for (const char* ownership : {"hash", "ranges"}) {
        CAPTURE(processes);
        CAPTURE(workers);
        CAPTURE(ownership);
        work(JobOptions{.workers = workers, .ownership = ownership}, processes);
      }
}

}  // namespace edgewire
