#include "graph/file/builder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "base/parallel.h"
#include "base/random.h"
#include "graph/file/format.h"
#include "graph/generator.h"
#include "graph_test.h"

namespace edgewire::graph {

namespace {

/// What the builder should write, the slow way.
std::vector<Edge> expected_edges(const std::vector<Edge>& edges, const BuildOptions& options) {
  std::vector<Edge> all;
  for (auto [source, target, weight] : edges) {
    if (!options.weighted) weight = 0;
    if (options.simple && source == target) continue;
    all.emplace_back(source, target, weight);
    if (options.undirected && source != target) all.emplace_back(target, source, weight);
  }
  std::sort(all.begin(), all.end());
  if (options.simple) {
    const auto same = [](const Edge& a, const Edge& b) {
      return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
    };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
  }
  return all;
}

}  // namespace

TEST_CASE("rows are sorted, and simple and undirected do what they say, with any number of workers") {
  const TemporaryDirectory directory;
  const std::vector<Edge> edges = random_edges(40, 3000, 5, -3);
  for (int choice = 0; choice < 8; ++choice) {
    BuildOptions options = {(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0, 1};
    const BuildSummary summary = build(directory / "1.ew", 40, edges, options);
    const Graph graph = Graph::open(directory / "1.ew");
    CHECK(edges_of(graph) == expected_edges(edges, options));
    CHECK(graph.weighted() == options.weighted);
    CHECK(graph.simple() == options.simple);
    CHECK(graph.symmetric() == options.undirected);
    CHECK(summary.edges == graph.edges());
    CHECK((summary.dropped > 0) == options.simple);
    for (options.workers = 2; options.workers <= 4; ++options.workers) {
      build(directory / "n.ew", 40, edges, options);
      CHECK(read_file(directory / "n.ew") == read_file(directory / "1.ew"));
    }
  }
}

TEST_CASE("rows are sorted, in whatever order edges come") {
  const TemporaryDirectory directory;
  std::vector<Edge> edges = random_edges(5000, 60'000, 0, 0);
  const std::vector<Edge> expected = expected_edges(edges, {});
  const auto check = [&](const char* order) {
    CAPTURE(order);
    build(directory / "g.ew", 5000, edges, {.workers = 2});
    CHECK(edges_of(Graph::open(directory / "g.ew")) == expected);
  };
  check("random");
  std::ranges::sort(edges);
  check("sorted");
  std::swap(edges.front(), edges.back());
  check("two of them elsewhere");
  std::ranges::sort(edges, {},
                    [](const Edge& edge) { return std::pair(std::get<1>(edge), std::get<0>(edge)); });
  check("by target");
}

TEST_CASE("both zeros are the same weight") {
  const TemporaryDirectory directory;
  build(directory / "a.ew", 2, {{0, 1, -0.0F}, {0, 1, 0.0F}}, {.weighted = true});
  build(directory / "b.ew", 2, {{0, 1, 0.0F}, {0, 1, -0.0F}}, {.weighted = true});
  CHECK(read_file(directory / "a.ew") == read_file(directory / "b.ew"));
}

TEST_CASE("nothing is left behind when a build fails") {
  const TemporaryDirectory directory;
  CHECK_THROWS_AS(build(directory / "g.ew", kMaxVertices + 1, {}, {}), Error);
  CHECK(directory.files() == 0);
  write_file(directory / "g.ew", "kept");
  CHECK_THROWS_AS(build(directory / "g.ew", kMaxVertices + 1, {}, {}), Error);
  CHECK(read_file(directory / "g.ew") == "kept");
  CHECK(directory.files() == 1);
}

TEST_CASE("a permutation is one") {
  for (const std::uint64_t count : {1, 2, 3, 8, 1000, 4096}) {
    const Permutation permute(count, 42);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < count; ++i) seen.insert(permute(i));
    CHECK(seen.size() == count);
    CHECK(*seen.rbegin() == count - 1);
  }
  CHECK(Permutation(1 << 20, 1)(12345) != Permutation(1 << 20, 2)(12345));
}

TEST_CASE("generated files depend on the seed and not on the workers") {
  const TemporaryDirectory directory;
  const auto make = [&](int kind, std::uint64_t seed, int workers) {
    const GenerateOptions options = {seed, true, kind == 1, kind == 2, workers};
    if (kind < 3) graph::generate_kronecker(directory / "g.ew", kind == 0 ? 13 : 11, 16, options);
    if (kind == 3) graph::generate_uniform(directory / "g.ew", 5000, 40, options);
    if (kind == 4) generate_grid(directory / "g.ew", {300, 400, false, false}, options);
    return read_file(directory / "g.ew");
  };
  for (int kind = 0; kind < 5; ++kind) {
    const std::string one = make(kind, 1, 1);
    for (const int workers : {2, 3}) CHECK(make(kind, 1, workers) == one);
    CHECK(make(kind, 2, 1) != one);
  }
}

TEST_CASE("kronecker graphs have the degrees that the parameters tell") {
  // The number of edges of a source whose address has k ones of `scale` bits is binomial with mean
  // edges * 0.76^(scale - k) * 0.24^k: compare the sorted degrees' sums by the classes' sizes.
  const TemporaryDirectory directory;
  constexpr int kScale = 12;
  generate_kronecker(directory / "g.ew", kScale, 64, {});
  const Graph graph = Graph::open(directory / "g.ew");
  REQUIRE(graph.vertices() == 4096);
  REQUIRE(graph.edges() == 4096 * 64);
  std::vector<double> out(4096);
  std::vector<double> in(4096);
  double loops = 0;
  for (const auto& [source, target, weight] : edges_of(graph)) {
    ++out[source];
    ++in[target];
    if (source == target) ++loops;
  }
  const auto edges = static_cast<double>(graph.edges());
  for (std::vector<double>* degrees : {&out, &in}) {
    std::sort(degrees->rbegin(), degrees->rend());
    const double hub = edges * std::pow(0.76, kScale);
    CHECK(std::abs((*degrees)[0] - hub) < 5 * std::sqrt(hub));
    // The next twelve have one bit set; those after them have means that are a third, far below.
    const double second = edges * std::pow(0.76, kScale - 1) * 0.24 * kScale;
    CHECK(std::abs(std::accumulate(degrees->begin() + 1, degrees->begin() + 13, 0.0) - second) <
          5 * std::sqrt(second));
  }
  const double expected_loops = edges * std::pow(0.57 + 0.05, kScale);
  CHECK(std::abs(loops - expected_loops) < 5 * std::sqrt(expected_loops));
}

TEST_CASE("hubs are not where their address says") {
  const TemporaryDirectory directory;
  generate_kronecker(directory / "g.ew", 12, 16, {.seed = 7});
  const Graph graph = Graph::open(directory / "g.ew");
  std::uint64_t in_first_half = graph.offsets()[2048];
  CHECK(std::abs(static_cast<double>(in_first_half) / static_cast<double>(graph.edges()) - 0.5) < 0.2);
  CHECK(graph.offsets()[1] < 1000);  // the hub has more; unpermuted it would be vertex 0
}

TEST_CASE("uniform graphs and their weights are spread evenly") {
  const TemporaryDirectory directory;
  generate_uniform(directory / "g.ew", 10, 10'000, {.seed = 3, .weighted = true});
  const Graph graph = Graph::open(directory / "g.ew");
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> cells;
  double sum = 0;
  for (const auto& [source, target, weight] : edges_of(graph)) {
    ++cells[{source, target}];
    sum += weight;
    CHECK((weight > 0 && weight <= 1));
  }
  CHECK(cells.size() == 100);
  for (const auto& [cell, count] : cells) CHECK(std::abs(count - 1000) < 5 * 32);
  CHECK(std::abs(sum / 100'000 - 0.5) < 0.005);
}

TEST_CASE("grids join neighbours") {
  const TemporaryDirectory directory;
  const auto edges = [&](const GridShape& shape) {
    generate_grid(directory / "g.ew", shape, {});
    const Graph graph = Graph::open(directory / "g.ew");
    CHECK(graph.simple());
    CHECK(graph.symmetric());
    return edges_of(graph);
  };
  CHECK(edges({2, 2, false, true}) ==
        std::vector<Edge>{
            {0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {1, 3, 0}, {2, 0, 0}, {2, 3, 0}, {3, 1, 0}, {3, 2, 0}});
  CHECK(edges({1, 1, true, true}).empty());
  CHECK(edges({0, 5, false, true}).empty());
  CHECK(edges({2, 2, true, true}).size() == 8);
  CHECK(edges({3, 3, true, true}).size() == 9 * 4);
  CHECK(edges({30, 50, false, false}).size() == 2 * (29 * 50 + 30 * 49));
}

TEST_CASE("sizes that are out of reach are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  CHECK(contains(error_of([&] { generate_kronecker(path, 31, 16, {}); }), "of memory"));
  CHECK(contains(error_of([&] { generate_kronecker(path, 48, 16, {}); }), "scale"));
  CHECK(contains(error_of([&] { generate_kronecker(path, 20, ~std::uint64_t{0}, {}); }), "supported"));
  CHECK(contains(error_of([&] { generate_uniform(path, kMaxVertices + 1, 1, {}); }), "supported"));
  CHECK(contains(error_of([&] {
                   generate_grid(path, {~std::uint64_t{0}, 2, false, false}, {});
                 }),
                 "supported"));
  CHECK(directory.files() == 0);
  generate_kronecker(path, 0, 16, {});
  CHECK(Graph::open(path).vertices() == 1);
  generate_uniform(path, 0, 16, {});
  CHECK(Graph::open(path).vertices() == 0);
}

TEST_CASE("work is done by threads that are ready, and inside it by others") {
  std::vector<std::thread::id> ready(2), used(3), nested(2);
  {
    const ReadyWorkers workers([&](const std::function<void(int)>& work) {
      std::jthread other([&] {
        ready[1] = std::this_thread::get_id();
        work(1);
      });
      ready[0] = std::this_thread::get_id();
      work(0);
    });
    run_workers(3, [&](int worker) {
      used[static_cast<std::size_t>(worker)] = std::this_thread::get_id();
      if (worker == 0)
        run_workers(2, [&](int one) { nested[static_cast<std::size_t>(one)] = std::this_thread::get_id(); });
    });
    CHECK(used == std::vector{ready[0], ready[1], std::thread::id()});  // there are two, who do all
    CHECK(nested[0] == ready[0]);
    CHECK(nested[1] != std::thread::id());
    CHECK_THROWS_WITH(run_workers(1, [](int) { throw std::runtime_error("refused"); }), "refused");
    run_workers(1, [&](int) { used[2] = std::this_thread::get_id(); });
    CHECK(used[2] == ready[0]);
  }
  std::atomic<int> without{0};
  run_workers(3, [&](int worker) { without += worker == 2 ? 1 : 0; });
  CHECK(without == 1);
}

}  // namespace edgewire::graph
