#include "kernels/wcc/wcc.h"

#include <algorithm>
#include <vector>

#include "frontier_test.h"
#include "kernels/wcc/gathered.h"

namespace edgewire::kernels::components {

using namespace frontier;

namespace {

using Labels = std::vector<PlainId>;
using Edges = std::vector<graph::Edge>;

/// The smaller label of both ends of each edge, until there is nothing to change.
Labels by_rounds(std::uint32_t vertices, const Edges& edges) {
  Labels labels(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) labels[v] = v;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [u, v, weight] : edges) {
      const PlainId least = std::min(labels[u], labels[v]);
      changed = changed || labels[u] != labels[v];
      labels[u] = labels[v] = least;
    }
  }
  return labels;
}

struct Found {
  Labels labels;
  std::vector<Superstep> supersteps;  ///< of the first process
};

Found find(const Graph& graph, const JobCut& cut, WccMerge::Room room = {}) {
  Found found{Labels(graph.vertices(), 0xffffffff), {}};
  run_in_each(graph, cut, {}, [&](Job& job) {
    Wcc components(job, room);
    const auto supersteps = components.run();
    put(job, components.labels(), found.labels);
    if (job.rank() == 0) found.supersteps = supersteps;
  });
  return found;
}

/// Process 0 links only what is left of so few components.
WccMerge::Room no_room(std::uint64_t left) { return {.all = {0, 0}, .left = left}; }

void check_labels(std::uint32_t vertices, const Edges& edges, const Labels& right,
                  const std::vector<JobCut>& cuts = {kJobCuts.front(), kJobCuts.back()}) {
  REQUIRE((by_rounds(vertices, edges) == right));
  for (const bool undirected : {false, true}) {
    CAPTURE(undirected);
    const graph::BuiltGraph built(vertices, edges, {.undirected = undirected});
    for (const JobCut& cut : cuts) {
      CAPTURE(cut.label());
      CHECK((find(built.graph, cut).labels == right));
    }
  }
}

}  // namespace

TEST_CASE("weakly connected components of graphs drawn by hand") {
  check_labels(0, {}, {});
  check_labels(1, {}, {0});
  check_labels(1, {{0, 0, 0.0F}, {0, 0, 0.0F}}, {0});
  check_labels(3, {}, {0, 1, 2});
  check_labels(3, {{2, 2, 0.0F}, {1, 1, 0.0F}}, {0, 1, 2});
  check_labels(3, {{2, 1, 0.0F}, {2, 1, 0.0F}, {1, 2, 0.0F}}, {0, 1, 1});
  // Edges meet in 2 and 4: no directed path leads from one end to the other.
  check_labels(5, {{0, 2, 0.0F}, {1, 2, 0.0F}, {1, 4, 0.0F}, {3, 4, 0.0F}}, {0, 0, 0, 0, 0});
  check_labels(7, {{1, 3, 0.0F}, {5, 3, 0.0F}, {6, 2, 0.0F}}, {0, 1, 2, 1, 4, 1, 2});
  // Two triangles with turns of vertices, and one edge that joins them.
  Edges edges{{0, 2, 0.0F}, {2, 4, 0.0F}, {4, 0, 0.0F}, {1, 3, 0.0F}, {3, 5, 0.0F}, {5, 1, 0.0F}};
  check_labels(6, edges, {0, 1, 0, 1, 0, 1});
  edges.emplace_back(5, 4, 0.0F);
  check_labels(6, edges, {0, 0, 0, 0, 0, 0});
}

TEST_CASE("weakly connected components are those of rounds over all edges in random graphs" *
          doctest::test_suite("schedules")) {
  for (std::uint32_t seed = 0; seed < (is_scheduled() ? 5U : 24U); ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 1 + seed * 41 % 200;
    const Edges edges = graph::random_edges(vertices, vertices * (1 + seed % 4) / 3, seed);
    check_labels(vertices, edges, by_rounds(vertices, edges), {kJobCuts[seed % kJobCuts.size()]});
  }
}

TEST_CASE("more than two processes find the same, whether one of them gets what they linked or none does") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 2 + seed * 41 % 300;
    const Edges edges = graph::random_edges(vertices, vertices * (1 + seed % 5) / 4, seed);
    const Labels right = by_rounds(vertices, edges);
    const JobCut cut{.processes = 3 + static_cast<int>(seed % 4),
                     .ownership = seed % 2 == 0 ? "hash" : "ranges"};
    for (const bool undirected : {false, true}) {
      const graph::BuiltGraph built(vertices, edges, {.undirected = undirected});
      for (const std::uint64_t left : {0, 1, 3, 30})
        CHECK((find(built.graph, cut, no_room(left)).labels == right));
      for (const int workers : {1, 2}) {
        JobCut one = cut;
        one.workers = workers;
        CHECK((find(built.graph, one).labels == right));
      }
    }
  }
}

TEST_CASE("supersteps and records of a long path grow with its logarithm and its length") {
  constexpr std::uint32_t kVertices = 20'000;
  for (const std::uint64_t stride : {1, 7'919, 19'999}) {
    CAPTURE(stride);
    Edges edges;
    const auto at = [&](std::uint64_t i) { return static_cast<std::uint32_t>(i * stride % kVertices); };
    for (std::uint32_t i = 0; i + 1 < kVertices; ++i) edges.emplace_back(at(i), at(i + 1), 0.0F);
    const graph::BuiltGraph built(kVertices, edges, {.undirected = true});
    for (const int processes : {3, 8}) {
      const Found found = find(built.graph, {.processes = processes}, no_room(3));
      CHECK((found.labels == Labels(kVertices)));
      CHECK(found.supersteps.size() < 60);
      std::uint64_t bytes = 0;
      for (const Superstep& one : found.supersteps) bytes += one.sent.record_bytes;
      CHECK(bytes < 32 * kVertices / static_cast<unsigned>(processes));
      CHECK((find(built.graph, {.processes = processes}).supersteps.size() == 6));  // one links all
    }
  }
}

TEST_CASE("the smallest number of a tree is its root") {
  Forest forest(100);
  forest.make_sets(0, 100);
  for (std::uint32_t n = 99; n > 10; n -= 2) forest.link(n, n - 2);
  forest.link(99, 98);
  CHECK(forest.root(99) == 9);
  CHECK(forest.root(98) == 9);
  CHECK(forest.root(96) == 96);
  forest.compress(0, 100);
  for (std::uint32_t n = 9; n < 100; n += 2) CHECK(forest.parent(n) == 9);
}

TEST_CASE("packed numbers take their bits and no more") {
  for (const unsigned bits : {1U, 2U, 7U, 19U, 31U, 32U}) {
    CAPTURE(bits);
    const auto number = [&](std::uint64_t i) {
      return static_cast<std::uint32_t>(i * 2'654'435'761U) >> (32 - bits);
    };
    CHECK(PackedNumbers::words(100, bits) == (100 * bits + 31) / 32);
    std::vector<std::uint32_t> words(PackedNumbers::words(100, bits) + 1);
    PackedNumbers numbers(words.data(), bits);
    for (std::uint64_t i = 0; i < 100; ++i) numbers.put(i, number(i));
    for (std::uint64_t i = 0; i < 100; ++i) CHECK(numbers[i] == number(i));
    CHECK(words.back() == 0);
  }
}

TEST_CASE("a list of components has roots as bits or as numbers, and refuses others") {
  std::vector<std::uint32_t> evens;
  for (std::uint32_t i = 0; i < 40; i += 2) evens.push_back(i);
  for (const auto& [owned, named] : {std::pair{40U, evens}, {40'000U, {0, 7, 39'999}}}) {
    ComponentList list(3, owned, {5, named.size()});
    list.make_room();
    list.put_roots(Bits(owned, named));
    const auto roots = list.roots();
    CHECK(std::ranges::equal(roots, named));
    CHECK(list.length() == 1 + 3 + 2 + 1);
    ComponentList more(3, owned, {5, named.size() + 1});
    more.make_room();
    for (std::uint64_t i = 0; i + 1 < more.length(); ++i) more.value(i) = 0xffffffff;
    CHECK_THROWS_AS(more.roots(), Error);
  }
}

TEST_CASE("one process gets no more than it has room for") {
  Edges edges;
  for (std::uint32_t i = 0; i + 1 < 3'000; ++i) edges.emplace_back(i, i + 1, 0.0F);
  const graph::BuiltGraph built(3'000, edges, {.undirected = true});
  for (const auto& [bytes, alone] :
       {std::pair{std::uint64_t{1'000}, false}, {std::uint64_t{100'000}, true}}) {
    const Found found = find(built.graph, {.processes = 3}, {.all = {bytes, 0}});
    CHECK((found.labels == Labels(3'000)));
    CHECK((std::ranges::count(found.supersteps, WccMerge::kTell, &Superstep::kind) == 0) == alone);
  }
}

TEST_CASE("a process that names fewer or more components than it was to is refused") {
  const std::vector<PlainId> labels{7, 5, 5, 8, 9}, values{6, 0, 7, 8, 9, kNoVertex};
  CHECK(kernels::pack_labels(labels, 5) == values);
  CHECK(kernels::unpack_labels(values, 5, 5) == labels);
  const std::span all(values);
  for (const std::size_t count : {1, 2, 4})
    CHECK_THROWS_AS(kernels::unpack_labels(all.first(count), 5, 5), Error);
  CHECK_THROWS_AS(kernels::unpack_labels(values, 2, 5), Error);
  CHECK_THROWS_AS(kernels::unpack_labels(values, 65, 5), Error);
}

TEST_CASE("a long path is one component, in whatever order its vertices are") {
  constexpr std::uint32_t kVertices = 20'000;
  for (const std::uint64_t stride : {1, 7'919, 19'999}) {  // have no divisor with 20'000 in common
    CAPTURE(stride);
    Edges edges;
    const auto at = [&](std::uint64_t i) { return static_cast<std::uint32_t>(i * stride % kVertices); };
    for (std::uint32_t i = 0; i + 1 < kVertices; ++i) edges.emplace_back(at(i), at(i + 1), 0.0F);
    for (const bool undirected : {false, true}) {
      const graph::BuiltGraph built(kVertices, edges, {.undirected = undirected});
      for (const JobCut& cut : {JobCut{}, JobCut{.workers = 2}, JobCut{.processes = 2, .workers = 2}})
        CHECK((find(built.graph, cut).labels == Labels(kVertices)));
    }
  }
}

TEST_CASE("rows of the largest component are skipped where every edge is stored both ways") {
  // A band of vertices near each other, and an edge beside it.
  constexpr std::uint32_t kVertices = 500;
  Edges edges{{498, 499, 0.0F}};
  for (std::uint32_t v = 0; v < 498; ++v)
    for (const std::uint32_t w : {v + 1, v + 2, v + 3, v + 4})
      if (w < 498) edges.emplace_back(v, w, 0.0F);
  Labels right(kVertices);
  right[498] = right[499] = 498;
  for (const bool undirected : {false, true}) {
    const graph::BuiltGraph built(kVertices, edges, {.undirected = undirected});
    const Found found = find(built.graph, {});
    CHECK((found.labels == right));
    const auto rest = std::ranges::find(found.supersteps, Wcc::kRest, &Superstep::kind);
    REQUIRE(rest != found.supersteps.end());
    CHECK(found.supersteps[0].kind == Wcc::kSample);
    CHECK((rest->edges < 10) == undirected);
  }
}

}  // namespace edgewire::kernels::components
