// The common part of the tests of the graph folder.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <stdlib.h>

#include "base/error.h"
#include "edgewire/graph.h"
#include "graph/file/builder.h"

namespace edgewire::graph {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "edgewire-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

using Edge = std::tuple<std::uint32_t, std::uint32_t, float>;

/// Returns all edges in the order of the file, with weight 0 when it has none.
inline std::vector<Edge> edges_of(const Graph& graph) {
  graph.verify_rows(0, graph.vertices());
  std::vector<Edge> edges;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (std::uint64_t i = graph.offsets()[v]; i < graph.offsets()[v + 1]; ++i) {
      edges.emplace_back(v, graph.targets()[i],
                         graph.weighted() ? static_cast<float>(graph.weights()[i]) : 0.0F);
    }
  }
  return edges;
}

inline BuildSummary build(const std::string& path, std::uint64_t vertices, const std::vector<Edge>& edges,
                          const BuildOptions& options, const std::vector<std::uint64_t>& ids = {}) {
  OutputFile output(path);
  Builder builder(vertices, edges.size(), options);
  parallel_for(options.workers, edges.size(), [&](int worker, std::uint64_t i) {
    const auto& [source, target, weight] = edges[i];
    builder.add(worker, source, target, weight);
  });
  return builder.write(output, ids, 0, {});
}

/// The graph of these edges, in a file of its own.
struct BuiltGraph {
  TemporaryDirectory folder;
  Graph graph;

  BuiltGraph(std::uint64_t vertices, const std::vector<Edge>& edges, const BuildOptions& options = {})
      : graph([&] {
          build(folder / "g.ew", vertices, edges, options);
          return Graph::open(folder / "g.ew");
        }()) {}
};

/// Returns edges between any vertices, with loops; some occur twice, some in both directions. Weights are
/// whole, from `least` to `least` + 6.
inline std::vector<Edge> random_edges(std::uint32_t vertices, std::size_t count, std::uint32_t seed,
                                      float least = 1) {
  std::minstd_rand random(seed + 1);
  const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  std::vector<Edge> edges;
  while (edges.size() < count) {
    const std::uint32_t u = draw(vertices), v = draw(vertices);
    const float weight = least + static_cast<float>(draw(7));
    edges.emplace_back(u, v, weight);
    if (edges.size() % 3 == 0) edges.emplace_back(v, u, weight);
    if (edges.size() % 5 == 0) edges.push_back(edges.back());
  }
  return edges;
}

/// Returns a graph with hubs, and vertices without edges: squares are drawn. Duplicates and loops come by
/// themselves.
inline Graph skewed_graph(const TemporaryDirectory& folder, std::uint32_t vertices, std::size_t count,
                          bool weighted = false) {
  std::mt19937 random(vertices);
  std::vector<Edge> edges(count);
  const auto draw = [&] {
    const std::uint64_t x = random() % vertices;
    return static_cast<std::uint32_t>(x * x / vertices);
  };
  for (auto& edge : edges) edge = {draw(), draw(), weighted ? static_cast<float>(random() % 100) : 0.0F};
  build(folder / "g.ew", vertices, edges, {.weighted = weighted});
  return Graph::open(folder / "g.ew");
}

/// Does the work of workers, work(worker, i), in this thread.
inline const auto in_turn = [](std::uint64_t count, const auto& work) {
  for (std::uint64_t i = 0; i < count; ++i) work(0, i);
};

/// Returns the message of the Error that `call` must throw.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace edgewire::graph
