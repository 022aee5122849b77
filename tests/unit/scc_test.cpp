#include "kernels/scc/scc.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "frontier_test.h"
#include "kernels/scc/collected.h"
#include "kernels/scc/rest_rows.h"

namespace edgewire::kernels::scc {  // names of its own beside other tests

using namespace frontier;

namespace {

using Labels = std::vector<PlainId>;
using EdgeList = std::vector<graph::Edge>;

/// By definition: who reaches whom, by as many rounds as it takes.
Labels labels_by_definition(std::uint32_t vertices, const EdgeList& edges) {
  std::vector<std::vector<bool>> reaches(vertices, std::vector<bool>(vertices));
  for (std::uint32_t v = 0; v < vertices; ++v) reaches[v][v] = true;
  for (const auto& [u, v, weight] : edges) reaches[u][v] = true;
  for (std::uint32_t over = 0; over < vertices; ++over)
    for (std::uint32_t u = 0; u < vertices; ++u)
      if (reaches[u][over])
        for (std::uint32_t v = 0; v < vertices; ++v)
          if (reaches[over][v]) reaches[u][v] = true;
  Labels labels(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v)
    while (!reaches[v][labels[v]] || !reaches[labels[v]][v]) ++labels[v];
  return labels;
}

struct Run {
  int processes = 1, workers = 1;
  std::uint64_t collected = Scc::kCollected;
  std::string ownership = "hash";
  bool hosts = false;
};

/// Counts the supersteps of each kind.
Labels labels_of(const Graph& graph, const Run& run,
                 std::map<std::uint64_t, std::uint64_t>* kinds = nullptr) {
  Labels labels(graph.vertices(), kNoVertex);
  const JobCut cut{
      .processes = run.processes, .workers = run.workers, .ownership = run.ownership, .hosts = run.hosts};
  run_in_each(graph, cut, {}, [&](Job& job) {
    Scc components(job, run.collected);
    for (const Superstep& one : components.run())
      if (job.rank() == 0 && kinds != nullptr) ++(*kinds)[one.kind];
    put(job, components.labels(), labels);
  });
  return labels;
}

/// Of the ways to find them (nothing is collected, some, or all; owners) one after the other in turn, or all.
void check_strong(std::uint32_t vertices, const EdgeList& edges, std::optional<std::uint32_t> turn = {}) {
  const Labels known = labels_by_definition(vertices, edges);
  const graph::BuiltGraph built(vertices, edges);
  std::vector<Run> runs;
  for (const int processes : {1, 2, 3}) {
    runs.push_back({.processes = processes});
    runs.push_back({.processes = processes, .collected = 0});
    runs.push_back({.processes = processes, .workers = 2, .collected = 0, .ownership = "ranges"});
    runs.push_back({.processes = processes, .workers = 2, .collected = edges.size() / 3});
    runs.push_back({.processes = processes, .collected = 0, .hosts = true});
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (turn && *turn % runs.size() != i) continue;
    CAPTURE(i);
    CHECK(labels_of(built.graph, runs[i]) == known);
  }
}

Labels all_apart(std::uint32_t vertices) {
  Labels labels(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) labels[v] = v;
  return labels;
}

EdgeList cycle(std::uint32_t first, std::uint32_t length) {
  EdgeList edges;
  for (std::uint32_t i = 0; i < length; ++i) edges.emplace_back(first + i, first + (i + 1) % length, 0.0F);
  return edges;
}

/// Sparse ones have many small components, denser ones a giant; some have tails, loops and duplicates.
EdgeList random_list(std::uint32_t vertices, std::uint32_t seed) {
  std::minstd_rand random(seed + 1);
  const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  EdgeList edges;
  for (std::uint32_t i = vertices * (1 + seed % 8) / 3; i > 0; --i) {
    const std::uint32_t u = draw(vertices), v = draw(vertices);
    switch (seed % 5) {
      case 0:
        edges.emplace_back(u / 3, v, 0.0F);
        break;  // most have no out-edge
      case 1:
        edges.emplace_back(u, std::min(u + 1 + draw(3), vertices - 1), 0.0F);  // forward, few back
        if (i % 3 == 0) edges.emplace_back(u, u - std::min(u, draw(9)), 0.0F);
        break;
      case 2:
        edges.emplace_back(u, v, 0.0F), edges.emplace_back(u, v, 0.0F);
        break;
      default:
        edges.emplace_back(u, v, 0.0F);
    }
  }
  return edges;
}

}  // namespace

TEST_CASE("strongly connected components are those of the definition in 200 random graphs" *
          doctest::test_suite("schedules")) {
  for (std::uint32_t seed = 0; seed < (is_scheduled() ? 5U : 200U); ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 1 + seed * 37 % 90;
    check_strong(vertices, random_list(vertices, seed), seed);
  }
}

TEST_CASE("strongly connected components of graphs with a shape") {
  check_strong(1, {});
  check_strong(1, {{0, 0, 0.0F}});
  check_strong(20, {});
  SUBCASE("loops only") {
    EdgeList edges;
    for (std::uint32_t v = 0; v < 20; ++v) edges.emplace_back(v, v, 0.0F), edges.emplace_back(v, v, 0.0F);
    check_strong(20, edges);
  }
  SUBCASE("cycles in cycles, joined one way") {
    EdgeList edges = cycle(0, 40);
    for (const auto& more : {cycle(3, 9), cycle(40, 5), cycle(45, 25), cycle(50, 4)})
      edges.insert(edges.end(), more.begin(), more.end());
    edges.emplace_back(7, 41, 0.0F), edges.emplace_back(42, 60, 0.0F), edges.emplace_back(69, 70, 0.0F);
    check_strong(71, edges);
  }
  SUBCASE("a complete graph, and stars both ways") {
    EdgeList edges;
    for (std::uint32_t u = 0; u < 12; ++u)
      for (std::uint32_t v = 0; v < 12; ++v) edges.emplace_back(u, v, 0.0F);
    for (std::uint32_t v = 13; v < 40; ++v) edges.emplace_back(12, v, 0.0F);
    for (std::uint32_t v = 41; v < 60; ++v) edges.emplace_back(v, 40, 0.0F), edges.emplace_back(40, v, 0.0F);
    check_strong(60, edges);
  }
}

TEST_CASE("edges that may be on a cycle are kept at both ends, and those of merged vertices at one of them") {
  using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 30 + seed % 40;
    const EdgeList edges = random_list(vertices, seed);
    const graph::BuiltGraph built(vertices, edges);
    const VertexId merged = seed % 2 == 0 ? VertexId(seed % vertices) : RestRows::kNoVertex;
    std::vector<std::uint8_t> sides;  // by vertex
    for (std::uint32_t v = 0; v < vertices; ++v) {
      const auto drawn = static_cast<std::uint8_t>((v * 7 + seed) % 11 % 4);
      sides.push_back(v == merged                                   ? RestRows::kMerged
                      : drawn == RestRows::kMerged && seed % 2 != 0 ? RestRows::kOther
                                                                    : drawn);
    }
    Pairs kept;
    for (const auto& [u, v, weight] : edges) {
      const auto one_with = [&](std::uint32_t w) {
        return sides[w] == RestRows::kMerged ? merged : VertexId(w);
      };
      const auto side_of = [&](std::uint32_t w) {
        return sides[w] == RestRows::kMerged ? RestRows::kReached : sides[w];
      };
      if (side_of(u) != side_of(v) || side_of(u) == RestRows::kGone || one_with(u) == one_with(v)) continue;
      kept.emplace_back(one_with(u), one_with(v));
    }
    std::ranges::sort(kept);
    const JobCut cut{.processes = 1 + static_cast<int>(seed % 4),
                     .workers = 1 + static_cast<int>(seed / 4 % 2)};
    std::vector<Pairs> out(4), in(4);  // [process]
    run_in_each(built.graph, cut, {}, [&](Job& job) {
      job.make_rows();
      std::vector<std::uint8_t> known;
      for (KnownNumber n{}; n < job.known(); ++n)
        known.push_back(sides[cut.processes == 1 ? VertexId(n) : job.boundary().vertex(n)]);
      const RestRows rows(job, known, merged);
      const auto vertex = [&](KnownNumber n) {
        return n < job.owned() ? job.ownership().vertex(job.rank(), LocalNumber(n)) : rows.other(n);
      };
      for (LocalNumber local{}; local < job.owned(); ++local) {
        for (const KnownNumber n : rows.out(local))
          out[job.rank()].emplace_back(vertex(KnownNumber(local)), vertex(n));
        for (const KnownNumber n : rows.in(local))
          in[job.rank()].emplace_back(vertex(n), vertex(KnownNumber(local)));
      }
      for (KnownNumber n(job.owned()); n < rows.numbers(); ++n)
        transport::require(rows.number_of_other(rows.other(n)) == n, "a number of another vertex");
    });
    for (const auto& all : {out, in}) {
      Pairs found;
      for (const Pairs& some : all) found.insert(found.end(), some.begin(), some.end());
      std::ranges::sort(found);
      CHECK((found == kept));
    }
  }
}

TEST_CASE("a symmetric graph has the components that edges join") {
  const graph::BuiltGraph built(7, {{1, 3, 0.0F}, {3, 5, 0.0F}, {2, 6, 0.0F}}, {.undirected = true});
  REQUIRE(built.graph.symmetric());
  for (const int processes : {1, 3}) {
    std::map<std::uint64_t, std::uint64_t> kinds;
    CHECK(labels_of(built.graph, {.processes = processes}, &kinds) == Labels{0, 1, 2, 1, 4, 1, 2});
    CHECK(kinds.rbegin()->first < Scc::kForward);
  }
}

TEST_CASE("a long path takes few supersteps where few edges are left, or a process owns it") {
  constexpr std::uint32_t kVertices = 50'000;
  EdgeList edges = cycle(0, kVertices);
  for (const bool closed : {true, false}) {
    if (!closed) edges.pop_back();
    const graph::BuiltGraph built(kVertices, edges);
    const Labels known = closed ? Labels(kVertices, 0) : all_apart(kVertices);
    for (const Run& run : {Run{.processes = 3}, Run{.processes = 1, .workers = 2, .collected = 0},
                           Run{.processes = 3, .collected = 0, .ownership = "ranges"}}) {
      CAPTURE(run.processes);
      CAPTURE(run.collected);
      std::map<std::uint64_t, std::uint64_t> kinds;
      CHECK(labels_of(built.graph, run, &kinds) == known);
      std::uint64_t supersteps = 0;
      for (const auto& [kind, count] : kinds) supersteps += count;
      CHECK(supersteps < 400);
    }
  }
}

TEST_CASE("long ways from and to a large component end its search early") {
  // A dense part; a way out of it, a way into it and one back to it, each of which takes as many supersteps
  // as it has edges.
  constexpr std::uint32_t kDense = 300, kWay = 2000, kVertices = kDense + 3 * kWay;
  std::minstd_rand random(3);
  EdgeList edges = cycle(kVertices - kDense, kDense);
  const auto dense = [&] { return kVertices - 1 - static_cast<std::uint32_t>(random() % kDense); };
  for (std::uint32_t i = 0; i < 10 * kDense; ++i) edges.emplace_back(dense(), dense(), 0.0F);
  for (std::uint32_t way = 0; way < 3; ++way) {
    const std::uint32_t first = way * kWay, last = first + kWay - 1;
    for (std::uint32_t v = first; v < last; ++v) edges.emplace_back(v, v + 1, 0.0F);
    if (way != 1) edges.emplace_back(dense(), first, 0.0F);
    if (way != 0) edges.emplace_back(last, dense(), 0.0F);
  }
  Labels known = all_apart(kVertices);
  std::fill(known.begin() + 2 * kWay, known.end(), 2 * kWay);
  const graph::BuiltGraph built(kVertices, edges);
  for (const int processes : {1, 2, 3}) {
    CAPTURE(processes);
    std::map<std::uint64_t, std::uint64_t> kinds;
    CHECK(labels_of(built.graph, {.processes = processes, .collected = 3 * kWay + 10}, &kinds) == known);
    CHECK(kinds[Scc::kForward] < 400);
    CHECK(kinds[Scc::kBackward] < 40);
    CHECK(kinds[Scc::kCollect] == 1);
  }
  CHECK(labels_of(built.graph, {.processes = 2, .collected = 0, .ownership = "ranges"}) == known);
}

TEST_CASE("a chain of many components is halved again and again") {
  constexpr std::uint32_t kPairs = 4000;
  for (const bool up : {true, false}) {
    EdgeList edges;
    Labels known;
    for (std::uint32_t v = 0; v < 2 * kPairs; ++v) {
      edges.emplace_back(v, v ^ 1, 0.0F);
      known.push_back(v & ~1U);
      if (v + 2 < 2 * kPairs) up ? edges.emplace_back(v, v + 2, 0.0F) : edges.emplace_back(v + 2, v, 0.0F);
    }
    const graph::BuiltGraph built(2 * kPairs, edges);
    for (const int processes : {1, 2}) {
      std::map<std::uint64_t, std::uint64_t> kinds;
      CHECK(labels_of(built.graph, {.processes = processes, .collected = 0, .ownership = "ranges"}, &kinds) ==
            known);
      CHECK(kinds[Scc::kTell] < 60);
    }
  }
}

TEST_CASE("components of collected edges, however long a path is") {
  constexpr std::uint32_t kLong = 300'000;
  std::vector<Record> edges;
  for (std::uint32_t i = 0; i < kLong; ++i) edges.push_back({3 * i + 5, 3 * ((i + 1) % kLong) + 5});
  CHECK(std::ranges::all_of(CollectedComponents(edges).labels(), [](auto label) { return label == 5; }));
  edges.pop_back();
  const CollectedComponents path(edges);
  CHECK(path.vertices().size() == kLong);
  CHECK(path.labels() == path.vertices());
  CHECK(CollectedComponents({}).vertices().empty());
  CHECK(CollectedComponents({{9, 7}, {7, 9}, {9, 9}, {7, 2}, {2, 1}, {1, 2}, {1, 1}}).labels() ==
        Labels{1, 1, 7, 7});
}

}  // namespace edgewire::kernels::scc
