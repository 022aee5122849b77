#include "kernels/check/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "graph_test.h"

namespace edgewire::kernels {

namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();
using graph::Edge;

struct TestGraph {
  std::uint32_t vertices = 0;
  std::vector<Edge> edges;
  graph::TemporaryDirectory folder;

  TestGraph(std::uint32_t n, std::vector<Edge> list) : vertices(n), edges(std::move(list)) {}
  Graph open(bool weighted = true) const {
    graph::BuildOptions options;
    options.weighted = weighted;
    graph::build(folder / "g.ew", vertices, edges, options);
    return Graph::open(folder / "g.ew");
  }
  /// By as many rounds over all edges as it takes.
  std::vector<float> distances(std::uint32_t source, bool unit = false) const {
    std::vector<float> found(vertices, kFar);
    found[source] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [u, v, weight] : edges) {
        const float way = found[u] + (unit ? 1 : weight);
        if (way < found[v]) found[v] = way, changed = true;
      }
    }
    return found;
  }
  std::vector<std::uint32_t> levels(std::uint32_t source) const {
    std::vector<std::uint32_t> found;
    for (const float d : distances(source, true))
      found.push_back(std::isinf(d) ? kNoLevel : static_cast<std::uint32_t>(d));
    return found;
  }
  std::vector<std::uint32_t> labels() const {
    std::vector<std::uint32_t> found(vertices);
    for (std::uint32_t v = 0; v < vertices; ++v) found[v] = v;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [u, v, weight] : edges) {
        const auto least = std::min(found[u], found[v]);
        changed = changed || found[u] != found[v];
        found[u] = found[v] = least;
      }
    }
    return found;
  }
  bool joins(std::uint32_t u, std::uint32_t v) const {
    return std::any_of(edges.begin(), edges.end(),
                       [&](const Edge& edge) { return std::get<0>(edge) == u && std::get<1>(edge) == v; });
  }
};

/// Sparse, so that some vertices are not reached; with loops, duplicates and weights of 0.
TestGraph random_graph(std::uint32_t seed) {
  const std::uint32_t vertices = 1 + seed * 7 % 24;
  return {vertices, graph::random_edges(vertices, seed * 11 % (2 * vertices), seed, 0)};
}

}  // namespace

TEST_CASE("the levels of a breadth-first search are right or refused") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TestGraph made = random_graph(seed);
    const auto graph = made.open();
    auto levels = made.levels(0);
    CHECK(check_bfs(graph, 0, levels) == "");
    for (std::uint32_t v = 0; v < made.vertices; ++v) {
      const auto right = levels[v];
      for (const std::uint32_t wrong : {right + 1, right - 1, kNoLevel, 0U, 3U, kNoLevel - 1}) {
        if (wrong == right) continue;
        CAPTURE(v);
        CAPTURE(wrong);
        levels[v] = wrong;
        CHECK(check_bfs(graph, 0, levels) != "");
      }
      levels[v] = right;
    }
  }
}

TEST_CASE("parents are right or refused") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TestGraph made = random_graph(seed);
    const auto graph = made.open();
    const auto levels = made.levels(0);
    const auto right = [&](std::uint32_t v, std::uint32_t parent) {
      if (levels[v] == kNoLevel) return parent == kNoLevel;
      if (v == 0) return parent == 0;
      return parent < made.vertices && levels[parent] != kNoLevel && levels[parent] + 1 == levels[v] &&
             made.joins(parent, v);
    };
    std::vector<std::uint32_t> parents(made.vertices, kNoLevel);
    for (std::uint32_t v = 0; v < made.vertices; ++v)
      for (std::uint32_t u = 0; u < made.vertices; ++u)
        if (right(v, u)) parents[v] = u;
    CHECK(check_bfs(graph, 0, levels, parents) == "");
    for (std::uint32_t v = 0; v < made.vertices; ++v) {
      const auto kept = parents[v];
      for (std::uint32_t u = 0; u <= made.vertices + 1; ++u) {
        CAPTURE(v);
        CAPTURE(u);
        parents[v] = u > made.vertices ? kNoLevel : u;
        CHECK(check_bfs(graph, 0, levels, parents).empty() == right(v, parents[v]));
      }
      parents[v] = kept;
    }
  }
}

TEST_CASE("distances are right or refused") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TestGraph made = random_graph(seed);
    const auto graph = made.open();
    for (const bool unit : {false, true}) {
      auto distances = made.distances(0, unit);
      CHECK(check_sssp(graph, 0, distances, unit).fault == "");
      for (std::uint32_t v = 0; v < made.vertices; ++v) {
        const auto right = distances[v];
        for (const float wrong : {right + 1, right - 1, kFar, 0.0F, -0.5F, right * 1.00001F, right * 0.99999F,
                                  std::nanf(""), 7.5F}) {
          if (wrong == right) continue;
          CAPTURE(v);
          CAPTURE(wrong);
          distances[v] = wrong;
          CHECK(check_sssp(graph, 0, distances, unit).fault != "");
        }
        distances[v] = right;
      }
    }
  }
}

TEST_CASE("distances are those that their own additions give, whatever their size") {
  std::minstd_rand random(1);
  for (const float scale : {1e-40F, 1e-20F, 1.0F, 1e30F}) {
    CAPTURE(scale);
    std::vector<Edge> edges;
    for (std::uint32_t v = 0; v < 2000; ++v)
      edges.emplace_back(v, v + 1, scale * static_cast<float>(random() % 1000) / 7);
    const TestGraph made(2001, std::move(edges));
    const auto graph = made.open();
    auto rough = made.distances(0);
    const auto found = check_sssp(graph, 0, rough);
    CHECK(found.fault == "");
    CHECK(found.edges == 2000);
    CHECK(found.error > 0);
    CHECK(found.error <= found.bound);
    CHECK(found.bound > 1.1e-4);
    CHECK(found.bound < 1.3e-4);
    std::vector<double> fine = {0};
    for (const auto& [u, v, weight] : made.edges) fine.push_back(fine.back() + static_cast<double>(weight));
    const auto finer = check_sssp(graph, 0, fine);
    CHECK(finer.fault == "");
    CHECK(finer.bound < 2.3e-13);
    // One of them moved by the least that there is, or rounded more often.
    rough[1000] = std::nextafterf(rough[1000], kFar);
    CHECK(check_sssp(graph, 0, rough).fault != "");
    const std::vector<double> rounded(rough.begin(), rough.end());
    CHECK(check_sssp(graph, 0, rounded).fault != "");
  }
}

TEST_CASE("whole distances are right or refused") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const TestGraph made = random_graph(seed);
    const auto graph = made.open();
    std::vector<std::uint64_t> hops;
    for (const float d : made.distances(0, true))
      hops.push_back(std::isinf(d) ? ~std::uint64_t{0} : static_cast<std::uint64_t>(d));
    CHECK(check_sssp(graph, 0, hops, true).fault == "");
    for (auto& one : hops) {
      ++one;
      CHECK(check_sssp(graph, 0, hops, true).fault != "");
      --one;
    }
  }
}

TEST_CASE("edges of weight 0 in a circle do not explain one another") {
  const TestGraph made(5, {{0, 1, 1.0F}, {1, 2, 9.0F}, {2, 3, 0.0F}, {3, 2, 0.0F}, {4, 4, 0.0F}});
  const auto graph = made.open();
  CHECK(check_sssp(graph, 0, std::array{0.0F, 1.0F, 10.0F, 10.0F, kFar}).fault == "");
  CHECK(check_sssp(graph, 0, std::array{0.0F, 1.0F, 5.0F, 5.0F, kFar}).fault ==
        "vertex 2 has distance 5, but no way from the source is as short");
  CHECK(check_sssp(graph, 0, std::array{0.0F, 1.0F, 10.0F, 10.0F, 3.0F}).fault ==
        "vertex 4 has distance 3, but no way from the source is as short");
}

/// check(labels): of these labels, which are right: accepts them, and refuses each one that is changed.
template <class Check>
void expect_only(const std::vector<std::uint32_t>& right, const Check& check) {
  CHECK(check(right) == "");
  for (std::uint32_t v = 0; v < right.size(); ++v) {
    for (std::uint32_t wrong = 0; wrong <= right.size(); ++wrong) {
      if (wrong == right[v]) continue;
      CAPTURE(v);
      CAPTURE(wrong);
      auto labels = right;
      labels[v] = wrong;
      CHECK(check(labels) != "");
      // A whole component with another label: the label of another component, or no smallest vertex.
      std::replace(labels.begin(), labels.end(), right[v], wrong);
      CHECK(check(labels) != "");
    }
  }
}

TEST_CASE("the labels of components are right or refused") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TestGraph made = random_graph(seed);
    const auto graph = made.open(false);
    expect_only(made.labels(), [&](const auto& labels) { return check_wcc(graph, labels); });
  }
}

TEST_CASE("the labels of strongly connected components are right or refused") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const TestGraph made = random_graph(seed);
    const auto graph = made.open(false);
    std::vector<std::vector<std::uint32_t>> levels;
    for (std::uint32_t v = 0; v < made.vertices; ++v) levels.push_back(made.levels(v));
    std::vector<std::uint32_t> labels(made.vertices);
    for (std::uint32_t v = 0; v < made.vertices; ++v)
      while (levels[v][labels[v]] == kNoLevel || levels[labels[v]][v] == kNoLevel) ++labels[v];
    expect_only(labels, [&](const auto& all) { return check_scc(graph, all); });
  }
}

TEST_CASE("the check of strongly connected components follows paths of any length") {
  constexpr std::uint32_t kLong = 1'000'000;
  std::vector<Edge> edges;
  for (std::uint32_t v = 0; v + 1 < kLong; ++v) edges.emplace_back(v, v + 1, 1.0F);
  std::vector<std::uint32_t> labels(kLong);
  std::iota(labels.begin(), labels.end(), 0U);
  {
    const TestGraph path(kLong, edges);
    CHECK(check_scc(path.open(false), labels) == "");
  }
  edges.emplace_back(kLong - 1, 0, 1.0F);
  const TestGraph made(kLong, edges);
  const auto graph = made.open(false);
  std::ranges::fill(labels, 0U);
  CHECK(check_scc(graph, labels) == "");
  labels[kLong - 2] = kLong - 2;
  CHECK(check_scc(graph, labels) ==
        "vertex 999998 has the label 999998, but the first vertex of its component is vertex 0");
}

TEST_CASE("scores of betweenness are right or refused") {
  // Two ways from 0 to 3, one of them over an edge that occurs twice; 4 is behind, 5 beside.
  const TestGraph made(6, {{0, 1, 1}, {0, 2, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}, {3, 4, 1}, {3, 3, 1}});
  const auto graph = made.open(false);
  const std::array<VertexId, 2> sources{0, 2};
  std::array<double, 6> scores{0, 2. / 3, 4. / 3, 2, 0, 0};
  CHECK(check_bc(graph, sources, scores) == "");
  CHECK(check_bc(graph, std::span(sources).first(0), std::array<double, 6>{}) == "");
  for (double& score : scores) {
    const double right = score;
    for (const double wrong : {right + 1e-6, right - 1e-6, std::nan("")}) {
      score = wrong;
      CHECK(check_bc(graph, sources, scores) != "");
    }
    score = right;
  }
  scores[3] = 1;
  CHECK(check_bc(graph, sources, scores) == "vertex 3 has the score 1, but a sequential search gives 2");

  // Each rule has its own right scores.
  const auto check = [&](const BcRules& rules, const std::array<double, 6>& right) {
    for (const BcRules& other : {BcRules{}, BcRules{.endpoints = true}, BcRules{.normalized = true},
                                 BcRules{.normalized = true, .samples = 2},
                                 BcRules{.endpoints = true, .normalized = true, .samples = 2}}) {
      const bool same = other.endpoints == rules.endpoints && other.normalized == rules.normalized &&
                        other.samples == rules.samples;
      CHECK(check_bc(graph, sources, right, other).empty() == same);
    }
  };
  check({}, {0, 2. / 3, 4. / 3, 2, 0, 0});
  check({.endpoints = true}, {4, 5. / 3, 13. / 3, 4, 2, 0});
  check({.normalized = true}, {0, 1. / 30, 1. / 15, 1. / 10, 0, 0});
  check({.normalized = true, .samples = 2}, {0, 1. / 12, 1. / 3, 1. / 4, 0, 0});
  check({.endpoints = true, .normalized = true, .samples = 2}, {.4, 1. / 6, 13. / 30, .4, .2, 0});
}

TEST_CASE("labels of communities are right or refused") {
  // 0, 1 and 2 are neighbours of one another; 3 hangs on 2 by two edges, 4 on 3; nothing on 5.
  const TestGraph made(6, {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}, {2, 3, 1}, {3, 2, 1}, {3, 4, 1}});
  const auto graph = made.open(false);
  using Labels = std::array<std::uint32_t, 6>;
  CHECK(check_cdlp(graph, 1, Labels{1, 0, 3, 2, 3, 5}) == "");
  CHECK(check_cdlp(graph, 2, Labels{0, 1, 2, 3, 2, 5}) == "");
  CHECK(check_cdlp(graph, 2, Labels{1, 0, 3, 2, 3, 5}) ==
        "vertex 0 has the label 1, which is not the most frequent one around it");
  CHECK(check_cdlp(graph, 1, Labels{1, 0, 3, 2, 3, 6}) ==
        "vertex 5 has the label of no vertex, which is not the most frequent one around it");
}

TEST_CASE("a check names the vertex as output does, and the rule") {
  graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 4, {{0, 1, 1.0F}, {1, 2, 2.0F}}, {}, {70, 71, 72, 73});
  const auto graph = Graph::open(folder / "g.ew");
  using Levels = std::array<std::uint32_t, 4>;
  CHECK(check_bfs(graph, 0, Levels{1, 1, 2, kNoLevel}) == "vertex 70 is the source and has level 1");
  CHECK(check_bfs(graph, 0, Levels{0, 1, 3, kNoLevel}) ==
        "vertex 72 has level 3, but has an edge from vertex 71 at level 1");
  CHECK(check_bfs(graph, 0, Levels{0, 1, kNoLevel, kNoLevel}) ==
        "vertex 72 is not reached, but has an edge from vertex 71 at level 1");
  CHECK(check_bfs(graph, 0, Levels{0, 1, 2, 9}) == "vertex 73 has level 9, but no edge from the level below");
  CHECK(check_bfs(graph, 0, Levels{0, 1, 2, kNoLevel}, Levels{0, 0, 0, kNoLevel}) ==
        "vertex 72 has level 2, but no edge from its parent at the level below");
  CHECK(check_bfs(graph, 0, Levels{0, 1, 2, kNoLevel}, Levels{1, 0, 1, kNoLevel}) ==
        "vertex 70 is the source, but not its own parent");
  CHECK(check_bfs(graph, 0, Levels{0, 1, 2, kNoLevel}, Levels{0, 0, 1, 1}) ==
        "vertex 73 is not reached, but has a parent");
  CHECK(check_sssp(graph, 0, std::array{0.0F, 1.0F, 3.0F, kFar}).fault ==
        "vertex 72 has distance 3, but the way over vertex 71 has length 2");
  CHECK(check_wcc(graph, Levels{0, 0, 0, 0}) ==
        "vertex 73 has the label vertex 70, which is a vertex of another component");
  CHECK(check_wcc(graph, Levels{0, 0, 2, 3}) ==
        "vertex 72 has another label than vertex 71, though an edge joins them");
  CHECK(check_wcc(graph, Levels{1, 1, 1, 3}) ==
        "the label of vertex 70 is not vertex 70, the first vertex of its component");
}

TEST_CASE("a damaged file is refused before a result is judged") {
  graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 2, {{0, 1, 1.0F}}, {});
  auto bytes = graph::read_file(folder / "g.ew");
  bytes[8192] ^= 1;
  graph::write_file(folder / "g.ew", bytes);
  const auto graph = Graph::open(folder / "g.ew");
  const std::array<std::uint32_t, 2> values{};
  CHECK(graph::contains(graph::error_of([&] { (void)check_wcc(graph, values); }), "g.ew"));
}

TEST_CASE("a run of a search has followed as many vertices as each level has") {
  const std::vector<std::uint32_t> levels{1, 0, kNoLevel, 1, 2};
  const auto fault = [&](const std::vector<std::uint64_t>& sizes) {
    return check_level_sizes(levels, sizes);
  };
  CHECK(fault({1, 2, 1}).empty());
  CHECK(fault({1, 2}) == "there are 3 levels, but the run has followed 2");
  CHECK(fault({1, 1, 1}) == "level 1 has 2 vertices, but the run has followed 1");
  CHECK(fault({1, 2, 1, 0}) == "there are 3 levels, but the run has followed 4");
}

}  // namespace edgewire::kernels
