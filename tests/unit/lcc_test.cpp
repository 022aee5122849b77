#include "kernels/lcc/lcc.h"

#include <map>
#include <mutex>
#include <set>

#include "frontier_test.h"
#include "kernels/check/check.h"
#include "kernels/lcc/boundary_rows.h"

namespace edgewire::kernels {

using namespace frontier;

namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Pairs random_pairs(std::uint32_t vertices, std::size_t count, std::uint32_t seed) {
  Pairs pairs;
  for (const auto& [u, v, weight] : graph::random_edges(vertices, count, seed)) pairs.emplace_back(u, v);
  return pairs;
}

struct Result {
  std::vector<double> coefficients;
  std::uint64_t triangles = 0;
  double pairs = 0;                      ///< of neighbours
  std::vector<std::uint64_t> corners{};  ///< [vertex]: triangles that it is a corner of
  bool operator==(const Result&) const = default;
};

/// By definition: all pairs of neighbours, and all sets of three vertices.
Result by_definition(std::uint32_t vertices, const Pairs& edges, bool undirected) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> there(edges.begin(), edges.end());
  if (undirected)
    for (const auto& [u, v] : edges) there.emplace(v, u);
  const auto edge = [&](std::uint32_t u, std::uint32_t v) { return u != v && there.contains({u, v}); };
  const auto adjacent = [&](std::uint32_t u, std::uint32_t v) { return edge(u, v) || edge(v, u); };
  Result found;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    int degree = 0, between = 0;
    std::uint64_t& corners = found.corners.emplace_back();
    for (std::uint32_t u = 0; u < vertices; ++u) {
      if (!adjacent(v, u)) continue;
      ++degree;
      for (std::uint32_t w = 0; w < vertices; ++w) {
        if (!adjacent(v, w)) continue;
        if (edge(u, w)) ++between;
        if (u < w && adjacent(u, w)) ++corners;
        if (v < u && u < w && adjacent(u, w)) ++found.triangles;
      }
    }
    found.pairs += static_cast<double>(degree * (degree - 1)) / 2;
    found.coefficients.push_back(degree < 2 ? 0 : static_cast<double>(between) / (degree * (degree - 1)));
  }
  return found;
}

/// Runs the kernel for coefficients, for the triangles of each vertex, and for their number alone. All three
/// count the same triangles.
Result run(const Graph& graph, const JobCut& cut, const Lcc::Pieces& pieces = {}) {
  Result result{std::vector<double>(graph.vertices()), 0, 0, std::vector<std::uint64_t>(graph.vertices())};
  std::mutex mutex;
  run_in_each(graph, cut, {}, [&](Job& job) {
    Lcc clustering(job, Lcc::Wanted::coefficients, pieces);
    clustering.run();
    put(job, clustering.coefficients(), result.coefficients);
    if (job.rank() == 0) result.triangles = clustering.triangles();
    Lcc corners(job, Lcc::Wanted::triangles, pieces);
    corners.run();
    put(job, corners.triangles_of_vertices(), result.corners);
    Lcc counting(job, Lcc::Wanted::count, pieces);
    const auto steps = counting.run();
    transport::require(steps.back().kind == Lcc::kIntersect, "nobody sends credits");
    for (const Lcc* const other : {&corners, &counting})
      transport::require(other->triangles() == clustering.triangles() &&
                             other->pairs_of_neighbours() == clustering.pairs_of_neighbours(),
                         "triangles and pairs are the same whatever is wanted");
    const std::scoped_lock lock(mutex);
    result.pairs += clustering.pairs_of_neighbours();
  });
  return result;
}

struct File : graph::BuiltGraph {
  File(std::uint32_t vertices, const Pairs& edges, bool undirected, bool simple = false)
      : BuiltGraph(vertices, list(edges), {.simple = simple, .undirected = undirected}) {}

 private:
  static std::vector<graph::Edge> list(const Pairs& edges) {
    std::vector<graph::Edge> all;
    for (const auto& [u, v] : edges) all.emplace_back(u, v, 0.0F);
    return all;
  }
};

}  // namespace

TEST_CASE("coefficients and triangles of graphs drawn by hand") {
  struct Case {
    std::uint32_t vertices;
    Pairs edges;
    bool undirected;
    Result right;
  };
  const std::vector<Case> cases = {
      {0, {}, true, {{}, 0, 0, {}}},
      {1, {{0, 0}}, false, {{0}, 0, 0, {0}}},
      {3, {{0, 1}, {1, 2}, {2, 0}}, true, {{1, 1, 1}, 1, 3, {1, 1, 1}}},
      {3, {{0, 1}, {1, 2}, {2, 0}}, false, {{0.5, 0.5, 0.5}, 1, 3, {1, 1, 1}}},
      // Of the two edges between 0 and 1 only vertex 2 has something.
      {3, {{0, 1}, {1, 0}, {1, 2}, {0, 2}, {0, 2}, {2, 2}}, false, {{0.5, 0.5, 1}, 1, 3, {1, 1, 1}}},
      {4, {{0, 1}, {0, 2}, {0, 3}}, true, {{0, 0, 0, 0}, 0, 3, {0, 0, 0, 0}}},
      {4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, true, {{1, 1, 1, 1}, 4, 12, {3, 3, 3, 3}}},
      {5,
       {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {4, 3}},
       true,
       {{1.0 / 3, 1, 1, 1, 1}, 2, 10, {2, 1, 1, 1, 1}}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.vertices);
    CAPTURE(one.undirected);
    const File file(one.vertices, one.edges, one.undirected);
    CHECK(by_definition(one.vertices, one.edges, one.undirected) == one.right);
    CHECK(run(file.graph, {}) == one.right);
    CHECK(run(file.graph, {.processes = 2}) == one.right);
  }
}

TEST_CASE("coefficients and triangles are those of the definition, however the job is cut") {
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 1 + seed % 5 * 7;
    const bool undirected = seed % 2 == 0;
    const Pairs edges = random_pairs(vertices, seed % 7 * vertices, seed);
    const bool simple = seed % 4 == 0;  // then rows stay where they are in the file
    const File file(vertices, edges, undirected, simple);
    const Result right = by_definition(vertices, edges, undirected);
    CHECK(kernels::check_lcc(file.graph, right.coefficients, right.triangles) == "");
    CHECK(kernels::check_triangles(file.graph, right.corners, right.triangles) == "");
    CHECK(run(file.graph, {.workers = 2}) == right);
    // Records of 3 bits: credits travel in many pieces. Batches of 64 words: rows come one or a few at a
    // time.
    const JobCut cut{.processes = 2 + static_cast<int>(seed % 2),
                     .workers = 1 + static_cast<int>(seed / 2 % 2),
                     .transport = seed % 3 == 0 ? "tcp" : "shm",
                     .ownership = seed % 4 < 2 ? "hash" : "ranges",
                     .hosts = seed % 8 < 4};
    CHECK(run(file.graph, cut,
              {.record_bits = seed % 3 == 1 ? 3U : 32U, .batch_words = seed % 5 < 3 ? 64U : 0U}) == right);
  }
}

TEST_CASE("several pieces of rows and a vertex with edges to all") {
  constexpr std::uint32_t kVertices = 5000;  // more than a worker takes at once
  Pairs edges = random_pairs(60, 400, 9);
  for (std::uint32_t v = 0; v < kVertices; ++v) edges.emplace_back(v % 3 == 0 ? 7 : v, v % 3 == 0 ? v : 7);
  for (std::uint32_t v = 1000; v + 2 < kVertices; v += 3)  // triangles far from all hubs but one
    for (std::uint32_t i = 0; i < 3; ++i) edges.emplace_back(v + i, v + (i + 1) % 3);
  for (const bool undirected : {false, true}) {
    const File file(kVertices, edges, undirected);
    const Result found = run(file.graph, {.workers = 3});
    CHECK(kernels::check_lcc(file.graph, found.coefficients, found.triangles) == "");
    CHECK(kernels::check_triangles(file.graph, found.corners, found.triangles) == "");
    CHECK(found.triangles > 200 + 4 * 1333);
    CHECK(run(file.graph, {.processes = 2}) == found);
    CHECK(run(file.graph, {.processes = 8, .ownership = "ranges"}, {.batch_words = 400}) == found);
  }
}

TEST_CASE("rows of boundary vertices come once each, in batches, with the entries that the process knows") {
  const Pairs edges = random_pairs(300, 4000, 5);
  for (const bool undirected : {false, true}) {
    CAPTURE(undirected);
    const File file(300, edges, undirected);
    // [vertex]: its row, in ids, as its owner has it; and for a directed graph which edges lead both ways.
    std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, int>>> whole;
    std::mutex mutex;
    const auto row_of = [&](const OrientedRows& rows, std::uint32_t number) {
      std::vector<std::pair<std::uint32_t, int>> row;
      for (std::size_t i = 0; i < rows.row(number).size(); ++i)
        row.emplace_back(rows.boundary().vertex(rows.known_of(rows.row(number)[i])),
                         undirected ? 0 : rows.both_ways(number)[i]);
      std::ranges::sort(row);
      return row;
    };
    const auto with_rows = [&](Job& job, const auto& work) {
      const ForEach in_workers = [&](std::uint64_t count, const auto& one) {
        job.pool().for_each(count, one);
      };
      OrientedRows rows(job, in_workers);
      work(rows, in_workers);
      job.wait_for_all();
    };
    const JobCut cut{.processes = 3, .workers = 2};
    run_in_each(file.graph, cut, {}, [&](Job& job) {
      with_rows(job, [&](const OrientedRows& rows, const auto&) {
        const std::scoped_lock lock(mutex);
        for (std::uint32_t n = 0; n < rows.known(); ++n)
          if (rows.owns(n)) whole[rows.boundary().vertex(rows.known_of(n))] = row_of(rows, n);
      });
    });
    run_in_each(file.graph, cut, {}, [&](Job& job) {
      with_rows(job, [&](OrientedRows& rows, const auto& in_workers) {
        std::set<std::uint32_t> wanted, came;  // ids
        for (std::uint32_t n = 0; n < rows.known(); ++n)
          for (const std::uint32_t entry : rows.row(n))
            if (rows.row(n).size() > 1 && !rows.owns(entry))
              wanted.insert(rows.boundary().vertex(rows.known_of(entry)));
        BoundaryRows others(job, rows, in_workers, 200);
        transport::require(others.batches_left() > 3, "batches are small");
        while (others.batches_left() > 0) {
          others.fetch();
          for (std::uint32_t n = 0; n < rows.known(); ++n) {
            if (rows.owns(n) || rows.row(n).empty()) continue;
            transport::require(others.batch().first <= n && n < others.batch().last,
                               "a row lies outside its batch");
            const std::uint32_t id = rows.boundary().vertex(rows.known_of(n));
            transport::require(wanted.contains(id) && came.insert(id).second, "each wanted row comes once");
            const auto row = row_of(rows, n);
            for (const auto& entry : row)
              transport::require(std::ranges::count(whole.at(id), entry) == 1, "an entry is wrong");
            // Owned entries are all there.
            for (const auto& [u, both] : whole.at(id))
              if (job.ownership().home(VertexId(u)).owner == job.rank())
                transport::require(std::ranges::count(row, std::pair(u, both)) == 1, "an entry is missing");
          }
        }
        for (const std::uint32_t id : wanted)
          if (std::ranges::any_of(whole.at(id), [&](const auto& entry) {
                return job.ownership().home(VertexId(entry.first)).owner == job.rank();
              }))
            transport::require(came.contains(id), "a row is missing");
      });
    });
  }
}

TEST_CASE("a wrong coefficient or number of triangles is refused") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Pairs edges = random_pairs(12, 40, seed);
    const File file(12, edges, seed % 2 == 0);
    Result result = by_definition(12, edges, seed % 2 == 0);
    CHECK(kernels::check_lcc(file.graph, result.coefficients, result.triangles) == "");
    CHECK(kernels::check_lcc(file.graph, result.coefficients, result.triangles + 1) ==
          "there are " + std::to_string(result.triangles) + " triangles, not " +
              std::to_string(result.triangles + 1));
    CHECK(kernels::check_triangles(file.graph, {}, result.triangles + 1) ==
          kernels::check_lcc(file.graph, result.coefficients, result.triangles + 1));
    for (std::uint64_t& one : result.corners) {
      ++one;
      CHECK(kernels::check_triangles(file.graph, result.corners, result.triangles) != "");
      --one;
    }
    for (double& one : result.coefficients) {
      const double right = one;
      for (const double wrong : {right + 1e-9, right - 1e-9, 1.0 - right, std::nan("")}) {
        if (wrong == right) continue;
        one = wrong;
        CHECK(kernels::check_lcc(file.graph, result.coefficients, result.triangles) != "");
      }
      one = right;
    }
  }
  const File file(3, {{0, 1}, {1, 2}, {2, 0}}, false);
  CHECK(kernels::check_lcc(file.graph, std::vector{0.5, 0.25, 0.5}, 1) ==
        "vertex 1 has the coefficient 0.25, but 1 of 2 edges between its neighbours");
  CHECK(kernels::check_triangles(file.graph, std::vector<std::uint64_t>{1, 1, 2}, 1) ==
        "vertex 2 is said to be a corner of 2 triangles, but is one of 1");
}

TEST_CASE("a damaged file is refused before its rows are used") {
  graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 2, {{0, 1, 1.0F}}, {});
  auto bytes = graph::read_file(folder / "g.ew");
  bytes[8192] ^= 1;
  graph::write_file(folder / "g.ew", bytes);
  const auto graph = Graph::open(folder / "g.ew");
  CHECK(graph::contains(graph::error_of([&] { run_in_each(graph, {}, {}, [](Job&) {}); }), "byte 8192"));
  CHECK(graph::contains(graph::error_of([&] { (void)kernels::check_lcc(graph, std::vector<double>(2), 0); }),
                        "byte 8192"));
}

}  // namespace edgewire::kernels
