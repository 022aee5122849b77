#include "kernels/bc/bc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "frontier_test.h"
#include "kernels/bc/by_source.h"
#include "kernels/check/check.h"
#include "kernels/scaled.h"

namespace edgewire::kernels::betweenness {

using namespace frontier;

namespace {

using Edges = std::vector<graph::Edge>;
using Scores = std::vector<double>;

struct File : graph::BuiltGraph {
  File(std::uint32_t vertices, const Edges& edges, bool undirected = false)
      : BuiltGraph(vertices, edges, {.weighted = true, .undirected = undirected}) {}
};

struct Cut : JobCut {
  bool apart = false;
  BcOptions options{};
};

/// By vertex; where `normalized`, as of all pairs.
Scores run(const Graph& graph, const std::vector<VertexId>& sources, const Cut& cut,
           bool normalized = false) {
  Scores found(graph.vertices());
  const Options options{.record_bytes = kWideRecordBytes, .for_tasks = cut.apart};
  run_in_each(graph, cut, options, [&](Job& job) {
    Scores mine;
    if (cut.apart) {
      BcBySource searches(job, cut.options);
      searches.run(sources);
      mine = searches.scores();
    } else {
      Bc levels(job, {.endpoints = cut.options.endpoints});
      levels.run(sources);
      mine = levels.scores();
    }
    if (normalized)
      scale_scores(job, mine, cut.apart, normalized_scale(graph.vertices(), cut.options.endpoints, 0),
                   sources);
    if (!cut.apart)
      put(job, mine, found);
    else if (job.rank() == 0)
      found = mine;
  });
  return found;
}

/// By definition: of all pairs of a source and a target, the share of the paths that lead over each vertex.
/// Distances are those of rounds over all edges.
Scores by_pairs(std::uint32_t vertices, const Edges& edges, const std::vector<VertexId>& sources,
                const BcOptions& options) {
  const double far = std::numeric_limits<double>::infinity();
  std::vector<Scores> distance(vertices, Scores(vertices, far)), paths(vertices, Scores(vertices));
  const auto length = [&](float weight) { return options.weighted ? double{weight} : 1; };
  for (std::uint32_t s = 0; s < vertices; ++s) {
    auto& from = distance[s];
    from[s] = 0;
    for (std::uint32_t round = 0; round < vertices; ++round)
      for (const auto& [u, v, weight] : edges) from[v] = std::min(from[v], from[u] + length(weight));
    std::vector<std::uint32_t> order(vertices);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t v) { return from[v]; });
    paths[s][s] = 1;
    for (const std::uint32_t target : order)
      for (const auto& [u, v, weight] : edges)
        if (v == target && from[v] < far && from[u] + length(weight) == from[v]) paths[s][v] += paths[s][u];
  }
  Scores scores(vertices);
  for (const std::uint32_t s : sources)
    for (std::uint32_t t = 0; t < vertices; ++t)
      for (std::uint32_t v = 0; v < vertices; ++v) {
        if (s == t || distance[s][t] == far || distance[s][v] + distance[v][t] != distance[s][t]) continue;
        if ((v == s || v == t) && !options.endpoints) continue;
        scores[v] += paths[s][v] * paths[v][t] / paths[s][t];
      }
  return scores;
}

Edges both_ways(Edges edges) {
  const std::size_t count = edges.size();
  for (std::size_t e = 0; e < count; ++e) {
    const auto [u, v, weight] = edges[e];
    if (u != v) edges.emplace_back(v, u, weight);
  }
  return edges;
}

std::vector<VertexId> all_of(std::uint32_t vertices) {
  std::vector<VertexId> all(vertices);
  std::iota(all.begin(), all.end(), VertexId{});
  return all;
}

void check_close(const Scores& found, const Scores& right) {
  REQUIRE(found.size() == right.size());
  for (std::size_t v = 0; v < right.size(); ++v) {
    CAPTURE(v);
    REQUIRE(std::fabs(found[v] - right[v]) <= 1e-12 * right[v]);
  }
}

const std::vector<Cut> kCuts = {{},
                                {{.workers = 2}},
                                {{.processes = 2, .ownership = "ranges"}},
                                {{.processes = 3, .workers = 2, .transport = "tcp", .hosts = true}},
                                {{.workers = 2}, true},
                                {{.processes = 2, .workers = 2}, true, {.deterministic = true}},
                                {{.processes = 2}, true, {.weighted = true}}};

/// Diamonds in a row, whose tops are the vertices 0, 3, 6, ...; each doubles the paths. From top 0 a single
/// path of the same length leads along other vertices to the last top.
struct Diamonds {
  explicit Diamonds(std::uint32_t diamonds) : count(diamonds), vertices(3 * diamonds + 1 + 2 * diamonds - 1) {
    for (std::uint32_t top = 0; top < 3 * count; top += 3)
      for (const std::uint32_t side : {top + 1, top + 2}) {
        edges.emplace_back(top, side, 1.0F);
        edges.emplace_back(side, top + 3, 1.0F);
      }
    edges.emplace_back(0, 3 * count + 1, 1.0F);
    for (std::uint32_t v = 3 * count + 1; v + 1 < vertices; ++v) edges.emplace_back(v, v + 1, 1.0F);
    edges.emplace_back(vertices - 1, 3 * count, 1.0F);
  }
  /// From source 0, of which 2^count paths and one lead to the last top.
  Scores scores() const {
    Scores right(vertices);
    const double single = 1 / (std::ldexp(1.0, static_cast<int>(std::min(count, 1000U))) + 1);
    for (std::uint32_t d = 0; d < count; ++d) {
      const double behind = 3.0 * (count - d - 1) - single;
      if (d > 0) right[3 * d] = behind + 3;
      right[3 * d + 1] = right[3 * d + 2] = (behind + 1) / 2;
    }
    for (std::uint32_t v = 3 * count + 1; v < vertices; ++v)
      right[v] = (vertices - 1 - v) + (count < 1000 ? single : 0);
    return right;
  }

  std::uint32_t count, vertices;
  Edges edges;
};

}  // namespace

TEST_CASE("scaled numbers round as doubles do, far beyond them") {
  for (const double a : {0.0, 1.0, 1.5, 3.0, 0.1, 1e300, 1e-300, 123456789.0}) {
    CHECK(static_cast<double>(Scaled(a)) == a);
    for (const double b : {0.0, 1.0, 2.5, 0.1, 1e-17, 1e16, 7e200}) {
      CAPTURE(a);
      CAPTURE(b);
      CHECK(static_cast<double>(Scaled(a) + Scaled(b)) == a + b);
      if (a < 1e100) CHECK(static_cast<double>(Scaled(a) * Scaled(b)) == a * b);
      if (b > 0 && a < 1e100) CHECK(static_cast<double>(Scaled(a) / Scaled(b)) == doctest::Approx(a / b));
    }
  }
  Scaled power(1);
  for (int i = 0; i < 1'000'000; ++i) power += power;
  CHECK(power.mantissa == 1);
  CHECK(power.exponent == 1'000'000);
  CHECK(std::isinf(static_cast<double>(power)));
  CHECK(static_cast<double>(Scaled(1) / power) == 0);
  CHECK(static_cast<double>(power * (Scaled(3) / power)) == 3);
  CHECK((power + Scaled(1)).exponent == 1'000'000);
}

TEST_CASE("several threads add to a scaled number at the same time") {
  constexpr int kThreads = 4, kTimes = 20'000;
  Scaled sum;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kTimes; ++i) add_shared(sum, Scaled(3));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(static_cast<double>(sum) == 3.0 * kThreads * kTimes);
}

TEST_CASE("paths are counted within and beyond doubles, however the job is cut") {
  for (const std::uint32_t count : {1U, 5U, 1100U})
    for (const bool undirected : {false, true}) {
      const Diamonds diamonds(count);
      const File file(diamonds.vertices, diamonds.edges, undirected);
      for (const Cut& cut : kCuts) {
        CAPTURE(count);
        CAPTURE(undirected);
        CAPTURE(cut.processes);
        CAPTURE(cut.workers);
        CAPTURE(cut.apart);
        const Scores found = run(file.graph, {0}, cut);
        check_close(found, diamonds.scores());
        CHECK(kernels::check_bc(file.graph, std::vector<VertexId>{0}, found) == "");
      }
    }
}

TEST_CASE("more paths than long doubles can count are verified by logarithms") {
  const Diamonds diamonds(17'000);
  const File file(diamonds.vertices, diamonds.edges);
  const std::vector<VertexId> sources{0};
  Scores found = run(file.graph, sources, {{.workers = 2}});
  check_close(found, diamonds.scores());
  for (const bool weighted : {false, true}) {
    CHECK(kernels::check_bc(file.graph, sources, found, {.weighted = weighted}) == "");
    found[301] *= 1 + 3e-9;
    CHECK(kernels::check_bc(file.graph, sources, found, {.weighted = weighted}) != "");
    found[301] = diamonds.scores()[301];
  }
}

TEST_CASE("searches after one with too many paths are right, too") {
  const Diamonds diamonds(1100);
  const File file(diamonds.vertices, diamonds.edges);
  const auto alone = launch::alone();
  Job job(*alone, file.graph);
  for (const bool weighted : {false, true}) {
    Scores right = run(file.graph, {2400}, {});
    const Scores first = diamonds.scores();
    for (std::size_t v = 0; v < right.size(); ++v) right[v] += first[v];
    const std::vector<VertexId> sources{0, 2400};
    Bc search(job, {.weighted = weighted});
    search.run(std::span(sources).first(1));
    search.run(std::span(sources).last(1));
    check_close(search.scores(), right);
  }
}

TEST_CASE("least sums of weights, and ties") {
  // From 0 to 3: over 1, over 2, and over 2 and 4, each 3 in all; the edge 0 -> 3 is longer.
  const Edges edges = {{0, 1, 1},    {1, 3, 2}, {0, 2, 0.5F}, {2, 3, 2.5F},
                       {2, 4, 1.5F}, {4, 3, 1}, {0, 3, 3.5F}};
  const File file(6, edges);
  Cut cut{{.workers = 2}, true, {.weighted = true}};
  check_close(run(file.graph, {0}, cut), {0, 1. / 3, 2. / 3 + 1, 0, 1. / 3, 0});
  cut.options.endpoints = true;
  check_close(run(file.graph, {0}, cut), {4, 1. / 3 + 1, 2. / 3 + 2, 1, 1. / 3 + 1, 0});
  cut.apart = false;  // by edges: 3 is next to 0, and 4 behind 2
  for (const int processes : {1, 3}) {
    cut.processes = processes;
    check_close(run(file.graph, {0, 5}, cut), {4, 1, 2, 1, 1, 0});
  }
}

TEST_CASE("weights that have no shortest paths are refused") {
  const auto refusal = [](const Edges& edges) {
    const File file(3, edges);
    return graph::error_of([&] { run(file.graph, {0}, {{}, true, {.weighted = true}}); });
  };
  CHECK(graph::contains(refusal({{0, 1, 1}, {1, 2, 0}}), "edge 1 -> 2 has weight 0; "));
  CHECK(graph::contains(refusal({{2, 2, -1}}), "edge 2 -> 2 has weight -1; "));
  CHECK(graph::contains(refusal({{0, 1, 1e20F}, {1, 2, 1}}), "edge 1 -> 2: its weight 1 is lost"));
  const graph::BuiltGraph plain(2, {{0, 1, 1}});
  CHECK(graph::contains(graph::error_of([&] {
                          run(plain.graph, {0}, {{}, true, {.weighted = true}});
                        }),
                        "no weights"));
}

TEST_CASE("scores are divided by the pairs that a vertex may be between") {
  const auto check = [](BcScale found, double sources, double others) {
    CHECK(found.sources == doctest::Approx(sources));
    CHECK(found.others == doctest::Approx(others));
  };
  check(normalized_scale(10, false, 0), 1. / 72, 1. / 72);
  check(normalized_scale(10, true, 0), 1. / 90, 1. / 90);
  check(normalized_scale(10, false, 4), 1. / 24, 1. / 32);
  check(normalized_scale(10, true, 4), 1. / 36, 1. / 36);
  check(normalized_scale(10, false, 10), 1. / 72, 1. / 80);  // and no vertex is another one
  for (const std::uint64_t few : {0U, 1U, 2U}) check(normalized_scale(few, false, few), 1, 1);
  check(normalized_scale(2, true, 0), 0.5, 0.5);
  check(normalized_scale(1, true, 1), 1, 1);
}

TEST_CASE("scores of graphs drawn by hand, of all pairs") {
  struct Case {
    std::uint32_t vertices;
    Edges edges;
    bool undirected;
    Scores right;
  };
  const std::vector<Case> cases{
      {0, {}, false, {}},
      {1, {}, false, {0}},
      {1, {{0, 0, 1}, {0, 0, 1}}, true, {0}},
      {2, {{0, 1, 1}}, true, {0, 0}},
      // A path one way and both ways, with a loop that changes nothing.
      {4, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {2, 2, 1}}, false, {0, 2, 2, 0}},
      {4, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {2, 2, 1}}, true, {0, 4, 4, 0}},
      // Two ways from 0 to 3, of which one counts twice: its first edge occurs twice.
      {4, {{0, 1, 1}, {0, 1, 1}, {0, 2, 1}, {1, 3, 1}, {2, 3, 1}}, false, {0, 2. / 3, 1. / 3, 0}},
      // A star, and beside it a component of its own.
      {6, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {4, 5, 1}}, true, {6, 0, 0, 0, 0, 0}},
      {6, {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {4, 5, 1}}, false, {0, 0, 0, 0, 0, 0}},
      // A square both ways: half of the paths between opposite corners.
      {4, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}}, true, {1, 1, 1, 1}},
      {4, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}}, false, {3, 3, 3, 3}},
  };
  for (const Case& one : cases) {
    CAPTURE(&one - cases.data());
    const File file(one.vertices, one.edges, one.undirected);
    for (const Cut& cut : kCuts) {
      CAPTURE(cut.label());
      CAPTURE(cut.apart);
      const auto sources = all_of(one.vertices);
      check_close(run(file.graph, sources, cut), one.right);
      if (one.vertices < 3) continue;
      Scores shares = one.right;
      for (double& share : shares) share /= (one.vertices - 1.0) * (one.vertices - 2.0);
      check_close(run(file.graph, sources, cut, true), shares);
    }
  }
}

TEST_CASE("without sources there are no paths") {
  const File file(4, {{0, 1, 1}, {1, 2, 1}});
  for (const Cut& cut : kCuts) CHECK((run(file.graph, {}, cut) == Scores(4)));
}

TEST_CASE("scores along a path of many levels") {
  constexpr std::uint32_t kVertices = 400;
  Edges edges;
  for (std::uint32_t v = 0; v + 1 < kVertices; ++v) edges.emplace_back(v, v + 1, 1.0F);
  const File file(kVertices, edges, true);
  const std::vector<VertexId> sources{0, 100, 399};
  Scores right(kVertices);
  for (const double s : {0., 100., 399.})
    for (std::uint32_t v = 0; v < kVertices; ++v)
      if (v != s) right[v] += v > s ? kVertices - 1.0 - v : v;
  for (const Cut& cut : {kCuts[0], kCuts[2], kCuts[4], kCuts[6]})
    check_close(run(file.graph, sources, cut), right);
}

TEST_CASE("scores are those of all pairs in random graphs, however the job is cut") {
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 2 + seed * 7 % 30;
    const bool undirected = seed % 2 == 0;
    const Edges edges = graph::random_edges(vertices, vertices * (1 + seed % 3), seed);
    const File file(vertices, edges, undirected);
    std::vector<VertexId> sources = all_of(vertices);
    if (seed % 4 == 3) sources.resize(vertices / 2);
    for (Cut cut : kCuts) {
      CAPTURE(cut.label());
      CAPTURE(cut.apart);
      cut.options.endpoints = seed % 3 == 0;
      const Scores right = by_pairs(vertices, undirected ? both_ways(edges) : edges, sources, cut.options);
      const Scores found = run(file.graph, sources, cut);
      check_close(found, right);
      CHECK(kernels::check_bc(file.graph, sources, found,
                              {.weighted = cut.options.weighted, .endpoints = cut.options.endpoints}) == "");
    }
  }
}

TEST_CASE("sums in order are the same to the last bit in every run") {
  const File file(300, graph::random_edges(300, 2000, 4));
  const auto sources = all_of(300);
  for (const JobCut& job : {JobCut{.workers = 3}, JobCut{.processes = 2, .workers = 2}}) {
    const Cut cut{job, true, {.deterministic = true}};
    const Scores first = run(file.graph, sources, cut);
    for (int again = 0; again < 5; ++again) CHECK((run(file.graph, sources, cut) == first));
  }
}

TEST_CASE("sums in order and weights are of searches apart, whatever was asked for") {
  const SearchPlan plan{.apart = false, .vertices = 10, .sources = 1};
  CHECK_FALSE(BcBySource::chosen(plan, {}));
  CHECK(BcBySource::chosen(plan, {.deterministic = true}));
  CHECK(BcBySource::chosen(plan, {.weighted = true}));
  SearchPlan pays{.vertices = (std::uint64_t{4} << 30) / 80, .sources = 4, .workers = 2};
  CHECK(BcBySource::chosen(pays, {}));
  ++pays.vertices;
  CHECK_FALSE(BcBySource::chosen(pays, {}));
}

}  // namespace edgewire::kernels::betweenness
