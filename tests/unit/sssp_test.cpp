// Shortest paths over weights of all types, as floats, doubles and whole numbers.
#include "kernels/sssp/sssp.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "frontier_test.h"
#include "kernels/check/check.h"
#include "refusals.h"
#include "weighted_graph.h"

namespace edgewire::kernels::sssp {  // names of its own beside other tests

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

template <class Weight>
using Edges = std::vector<std::tuple<std::uint32_t, std::uint32_t, Weight>>;

struct Run {
  int processes = 1, workers = 1;
  bool unit_weights = false;
  double delta = 0;
  frontier::RowDisks disks{};
  bool hosts = false;
};

/// [vertex], found by processes that are threads.
template <class Distance>
std::vector<Distance> distances_of(const Graph& graph, VertexId source, const Run& run = {}) {
  std::vector<Distance> all(graph.vertices());
  const auto bootstraps = launch::bootstraps(run.processes, run.hosts);
  std::vector<std::string> failures(bootstraps.size());
  auto disks = run.disks;
  disks.weighted = !run.unit_weights;
  transport::parallel(run.processes, [&](int p) {
    try {
      frontier::Job job(*bootstraps[static_cast<std::size_t>(p)], graph,
                        {.process = {.workers = run.workers, .transport = "shm"},
                         .record_bytes = kernels::DeltaStepping<Distance>::kRecordBytes,
                         .disks = disks,
                         .kernel = "sssp"});
      const Sssp<Distance> program(job, run.delta, run.unit_weights);
      kernels::DeltaStepping stepping(job, program);
      stepping.run(source, 0);
      frontier::put(job, stepping.distances(), all);
    } catch (const Error& error) {
      failures[static_cast<std::size_t>(p)] = error.what();
    }
  });
  for (const auto& failure : failures) {
    CHECK(failure == failures[0]);  // all say the same
    if (!failure.empty()) throw Error(failure);
  }
  return all;
}

/// Bellman's and Ford's, by as many rounds over all edges as it takes.
template <class Distance, class Weight>
std::vector<Distance> by_rounds(std::size_t vertices, const Edges<Weight>& edges, std::uint32_t source,
                                Distance far) {
  std::vector<Distance> found(vertices, far);
  found[source] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [u, v, weight] : edges) {
      if (found[u] == far) continue;
      const Distance way = found[u] + static_cast<Distance>(weight);
      if (way < found[v]) found[v] = way, changed = true;
    }
  }
  return found;
}

template <class Weight>
Edges<Weight> chain(const std::vector<Weight>& weights) {
  Edges<Weight> edges;
  for (std::uint32_t v = 0; v < weights.size(); ++v) edges.emplace_back(v, v + 1, weights[v]);
  return edges;
}

/// With weights of 0, loops and duplicates; a part is not reached.
template <class Weight>
Edges<Weight> random_edges(std::uint32_t vertices, const std::function<Weight(std::uint32_t)>& weight) {
  std::minstd_rand random(7);
  Edges<Weight> edges;
  for (std::uint32_t i = 0; i < vertices * 3; ++i) {
    const auto u = static_cast<std::uint32_t>(random() % vertices);
    edges.emplace_back(u, static_cast<std::uint32_t>(random() % (vertices * 9 / 10)),
                       i % 7 == 0 ? Weight{0} : weight(static_cast<std::uint32_t>(random())));
    if (i % 11 == 0) edges.push_back(edges.back());
  }
  return edges;
}

const Run kRuns[] = {{1, 1}, {1, 3}, {2, 1}, {3, 2}};

}  // namespace

TEST_CASE("a long chain of small weights adds up in double precision") {
  const graph::TemporaryDirectory folder;
  constexpr std::uint32_t kEdges = 12'000;
  const auto graph =
      graph::make_weighted(folder / "g.ew", kEdges + 1, chain(std::vector<double>(kEdges, 0.1)));
  for (const Run& run : {Run{}, Run{2, 1}, Run{.processes = 2, .hosts = true}}) {
    CAPTURE(run.processes);
    CHECK(std::fabs(distances_of<double>(graph, 0, run)[kEdges] - 1200) < 1e-9);
    const auto rough = distances_of<float>(graph, 0, run);
    CHECK(std::fabs(rough[kEdges] - 1200) > 0.1);
    const auto found = check_sssp(graph, 0, rough);
    CHECK(found.fault == "");
    CHECK(found.edges == kEdges);
    CHECK(found.error > 1e-4);
    CHECK(found.error < found.bound);
  }
}

TEST_CASE("whole weights are added exactly") {
  const graph::TemporaryDirectory folder;
  const auto graph =
      graph::make_weighted(folder / "g.ew", 5, chain(std::vector<std::uint32_t>{16'777'216, 1, 1, 1}));
  const auto wide =
      graph::make_weighted(folder / "wide.ew", 5, chain(std::vector<std::uint64_t>{kMost - 12, 1, 8, 0}));
  for (const Run& run : kRuns) {
    CAPTURE(run.processes);
    CHECK((distances_of<std::uint64_t>(graph, 0, run) ==
           std::vector<std::uint64_t>{0, 16'777'216, 16'777'217, 16'777'218, 16'777'219}));
    CHECK((distances_of<std::uint64_t>(graph, 2, run) == std::vector<std::uint64_t>{kMost, kMost, 0, 1, 2}));
    CHECK((distances_of<std::uint64_t>(wide, 0, run) ==
           std::vector<std::uint64_t>{0, kMost - 12, kMost - 11, kMost - 3, kMost - 3}));
  }
  CHECK(check_sssp(wide, 0, distances_of<std::uint64_t>(wide, 0)).fault == "");
  CHECK(distances_of<float>(graph, 0)[4] == 16'777'216);
}

TEST_CASE("an edge too long for the type is an error only where a shortest path needs it") {
  const graph::TemporaryDirectory folder;
  const auto beside = [&](const auto& edges) { return graph::make_weighted(folder / "g.ew", 4, edges); };
  for (const Run& run : kRuns) {
    CAPTURE(run.processes);
    {
      const Edges<float> edges{{0, 1, 2e38F}, {1, 2, 3e38F}, {0, 2, 1.0F}};
      const auto graph = beside(edges);
      CHECK((distances_of<float>(graph, 0, run) ==
             std::vector<float>{0, 2e38F, 1, std::numeric_limits<float>::infinity()}));
      const auto needed = beside(Edges<float>{{0, 1, 2e38F}, {1, 2, 3e38F}, {2, 3, 1.0F}});
      const auto line = refusal([&] { distances_of<float>(needed, 0, run); });
      check_line(line, "vertex 2");  // the first that is too far
      check_line(line, "f32");
      check_line(line, "--precision f64");
      CHECK(distances_of<double>(needed, 0, run)[3] > 4.9e38);
    }
    {
      const auto graph = beside(Edges<double>{{0, 1, 1e308}, {1, 2, 1e308}, {0, 2, 1.0}, {2, 3, 1e-300}});
      CHECK(distances_of<double>(graph, 0, run)[3] == 1);
      const auto needed = beside(Edges<double>{{0, 1, 1e308}, {1, 2, 1e308}});
      const auto line = refusal([&] { distances_of<double>(needed, 0, run); });
      check_line(line, "vertex 2");
      check_line(line, "divide the weights");
      check_line(refusal([&] { distances_of<float>(needed, 0, run); }), "vertex 1");
    }
    {
      const auto graph =
          beside(Edges<std::uint64_t>{{0, 1, kMost}, {1, 2, kMost - 3}, {0, 2, 5}, {2, 1, kMost - 9}});
      CHECK(distances_of<std::uint64_t>(graph, 0, run)[1] == kMost - 4);
      const auto needed = beside(Edges<std::uint64_t>{{0, 1, kMost - 7}, {1, 2, 6}, {2, 3, 0}});
      const auto line = refusal([&] { distances_of<std::uint64_t>(needed, 0, run); });
      check_line(line, "vertex 2");
      check_line(line, "u64");
    }
  }
}

TEST_CASE("a process that goes on alone does not pass by a distance that is too long") {
  const graph::TemporaryDirectory folder;
  constexpr std::uint32_t kVertices = 40;
  const auto ownership = partition::Ownership::hash(kVertices, 2);
  std::vector<std::uint32_t> own;  // of one process
  for (std::uint32_t v = 0; v < kVertices; ++v)
    if (ownership.home(VertexId(v)).owner == 0) own.push_back(v);
  const auto graph = graph::make_weighted(folder / "g.ew", kVertices,
                                          Edges<float>{{own[0], own[1], 2e38F}, {own[1], own[2], 3e38F}});
  for (const Run& run : {Run{1, 1}, Run{2, 1}, Run{.processes = 2, .hosts = true}}) {
    CAPTURE(run.processes);
    check_line(refusal([&] { distances_of<float>(graph, VertexId(own[0]), run); }),
               "vertex " + std::to_string(own[2]));
  }
}

TEST_CASE("distances of all types of weights, in memory and on disks, are those of rounds over all edges") {
  graph::TemporaryDirectory folder;
  constexpr std::uint32_t kVertices = 100;
  const auto try_type = [&]<class Distance, class Weight>(Distance far, const Edges<Weight>& edges) {
    const auto graph = graph::make_weighted(folder / "g.ew", kVertices, edges);
    const auto right = by_rounds<Distance>(kVertices, edges, 3, far);
    for (Run run : {Run{1, 2}, Run{2, 1}, Run{3, 1}, Run{.processes = 3, .workers = 2, .hosts = true}}) {
      CAPTURE(run.processes);
      CAPTURE(graph::name_of(graph.weights().type()));
      CHECK((distances_of<Distance>(graph, 3, run) == right));
      run.delta = 1e6;  // few supersteps
      const auto disk = folder / "disk";
      std::filesystem::create_directory(disk);
      run.disks.devices = {disk};
      CHECK((distances_of<Distance>(graph, 3, run) == right));
      std::filesystem::remove_all(disk);
    }
    CHECK(check_sssp(graph, 3, std::span<const Distance>(right)).fault == "");
    const auto parents = find_parents(graph, 3, std::span<const Distance>(right), false);
    CHECK(check_sssp(graph, 3, std::span<const Distance>(right), false, parents).fault == "");
  };
  const float far = std::numeric_limits<float>::infinity();
  const auto part = [](std::uint32_t drawn) { return drawn / 1e8; };
  const auto f32 =
      random_edges<float>(kVertices, [&](auto drawn) { return static_cast<float>(part(drawn)); });
  const auto f64 = random_edges<double>(kVertices, [&](auto drawn) { return part(drawn); });
  const auto u32 = random_edges<std::uint32_t>(kVertices, [](auto drawn) { return drawn; });
  const auto u64 =
      random_edges<std::uint64_t>(kVertices, [](auto drawn) { return (std::uint64_t{drawn} << 20) + 1; });
  try_type(far, f32), try_type(far, f64), try_type(far, u32), try_type(far, u64);
  try_type(double{far}, f32), try_type(double{far}, f64), try_type(double{far}, u32),
      try_type(double{far}, u64);
  try_type(kMost, u32), try_type(kMost, u64);
}

TEST_CASE("whole distances are of whole weights, or of none") {
  const graph::TemporaryDirectory folder;
  const auto graph = graph::make_weighted(folder / "g.ew", 3, chain(std::vector<float>{2.5F, 1.0F}));
  check_line(refusal([&] { distances_of<std::uint64_t>(graph, 0); }), "not whole");
  for (Run run : kRuns) {
    run.unit_weights = true;
    CHECK((distances_of<std::uint64_t>(graph, 0, run) == std::vector<std::uint64_t>{0, 1, 2}));
  }
}

TEST_CASE("parents are the smallest ones on a path of the fewest edges, and lead to the source" *
          doctest::test_suite("schedules")) {
  const graph::TemporaryDirectory folder;
  // A circle of weight 0 between 1, 2 and 3; 5 is reached over 4 or 1; 6 over the circle or directly.
  const auto graph = graph::make_weighted(folder / "g.ew", 8,
                                          Edges<std::uint32_t>{{0, 3, 1},
                                                               {3, 2, 0},
                                                               {2, 1, 0},
                                                               {1, 3, 0},
                                                               {0, 4, 2},
                                                               {4, 5, 3},
                                                               {1, 5, 4},
                                                               {1, 6, 0},
                                                               {3, 6, 0},
                                                               {0, 0, 0}});
  const std::vector<std::uint64_t> distances{0, 1, 1, 1, 2, 5, 1, kMost};
  const std::span<const std::uint64_t> all = distances;
  auto parents = find_parents(graph, 0, all, false);
  CHECK((parents == std::vector<PlainId>{0, 2, 3, 0, 0, 4, 3, kNoVertex}));
  CHECK(check_sssp(graph, 0, all, false, parents).fault == "");
  parents[3] = 1;
  CHECK(check_sssp(graph, 0, all, false, parents).fault == "the parents of vertex 1 lead round in a circle");
  parents[3] = 0;
  parents[5] = 0;
  CHECK(check_sssp(graph, 0, all, false, parents).fault ==
        "vertex 5 has distance 5, but no edge from its parent explains it");
  parents[5] = 1;  // as short, with more edges
  CHECK(check_sssp(graph, 0, all, false, parents).fault == "");
  parents[7] = 0;
  CHECK(check_sssp(graph, 0, all, false, parents).fault == "vertex 7 is not reached, but has a parent");
}

}  // namespace edgewire::kernels::sssp
