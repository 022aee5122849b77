#include "kernels/cdlp/cdlp.h"

#include <map>
#include <random>

#include "frontier_test.h"
#include "graph/file/format.h"
#include "kernels/leading_label.h"

namespace edgewire::kernels {

using namespace frontier;

namespace {

using Labels = std::vector<PlainId>;

struct Propagated {
  Labels labels;
  std::vector<std::uint64_t> voters;  ///< [round]
  bool operator==(const Propagated&) const = default;
};

/// By definition, with a map for each vertex.
Propagated propagated_by_definition(const Graph& graph, std::uint64_t rounds) {
  std::vector<Labels> around(graph.vertices());
  for (VertexId u{}; u < graph.vertices(); ++u) {
    for (const std::uint32_t v : graph::Row{graph, u}.targets()) {
      around[u].push_back(v);
      if (!graph.symmetric()) around[v].push_back(u);
    }
  }
  Propagated result;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) result.labels.push_back(v);
  std::vector<bool> news(graph.vertices(), true);
  for (bool changed = true; changed && result.voters.size() < rounds;) {
    Labels next = result.labels;
    std::uint64_t voters = 0;
    for (std::uint32_t v = 0; v < next.size(); ++v) {
      if (std::ranges::any_of(around[v], [&](std::uint32_t u) { return news[u]; })) ++voters;
      std::map<std::uint32_t, int> votes;
      for (const std::uint32_t u : around[v]) ++votes[result.labels[u]];
      int most = 0;
      for (const auto& [label, count] : votes)
        if (count > most) most = count, next[v] = label;
    }
    for (std::uint32_t v = 0; v < next.size(); ++v) news[v] = next[v] != result.labels[v];
    changed = next != result.labels;
    result.labels = next;
    result.voters.push_back(voters);
  }
  return result;
}

/// Several processes are on hosts of their own where each has several workers.
Propagated propagate(const Graph& graph, std::uint64_t rounds, int processes = 1, int workers = 1) {
  Propagated result{Labels(graph.vertices()), {}};
  std::vector<std::vector<Superstep>> steps(static_cast<std::size_t>(processes));
  const JobCut cut{.processes = processes, .workers = workers, .hosts = workers > 1};
  run_in_each(graph, cut, {}, [&](Job& job) {
    Cdlp propagation(job);
    steps[job.rank()] = propagation.run(rounds);
    put(job, propagation.labels(), result.labels);
  });
  result.voters.resize(steps[0].size());
  for (const auto& own : steps) {
    REQUIRE(own.size() == result.voters.size());
    for (std::size_t i = 0; i < own.size(); ++i) result.voters[i] += own[i].frontier;
  }
  return result;
}

/// The labels after `before` rounds in one job and those up to `rounds` in another one, which goes on.
Labels propagate_in_two(const Graph& graph, std::uint64_t before, std::uint64_t rounds, const JobCut& cut) {
  const Labels kept = propagate(graph, before, 2).labels;
  Labels labels(graph.vertices());
  run_in_each(graph, cut, {}, [&](Job& job) {
    Labels mine;
    for (LocalNumber i{}; i < job.owned(); ++i) mine.push_back(kept[job.ownership().vertex(job.rank(), i)]);
    Cdlp propagation(job);
    propagation.resume(before, mine);
    std::vector<std::uint64_t> told;
    const auto steps = propagation.run(rounds, [&](std::uint64_t done) { told.push_back(done); });
    transport::require(told.size() == steps.size() && (told.empty() || told[0] == before + 1),
                       "other rounds");
    put(job, propagation.labels(), labels);
  });
  return labels;
}

enum Kind { kDirected, kUndirected, kSimple };

void check_labels(std::uint32_t vertices, const std::vector<graph::Edge>& edges) {
  for (const Kind kind : {kDirected, kUndirected, kSimple}) {
    CAPTURE(kind);
    const graph::BuiltGraph built(vertices, edges,
                                  {.simple = kind == kSimple, .undirected = kind != kDirected});
    const auto& graph = built.graph;
    for (const std::uint64_t rounds : {1, 2, 10}) {
      CAPTURE(rounds);
      const Propagated right = propagated_by_definition(graph, rounds);
      CHECK((propagate(graph, rounds) == right));
      CHECK((propagate(graph, rounds, 1, 2) == right));
      if (rounds != 2) CHECK((propagate(graph, rounds, 2, 1) == right));
      if (rounds == 10) CHECK((propagate(graph, rounds, 3, 2) == right));
    }
  }
}

}  // namespace

TEST_CASE("labels of graphs drawn by hand") {
  struct Case {
    std::uint32_t vertices;
    std::vector<graph::Edge> edges;
    bool undirected;
    std::uint64_t rounds;
    Labels right;
  };
  const std::vector<Case> cases{
      {0, {}, false, 3, {}},
      {1, {}, false, 3, {0}},
      {1, {{0, 0, 0.0F}}, true, 3, {0}},
      {2, {}, false, 3, {0, 1}},
      // The two ends of an edge go on changing places, and of a loop a vertex hears itself.
      {2, {{1, 0, 0.0F}}, false, 1, {1, 0}},
      {2, {{1, 0, 0.0F}}, false, 2, {0, 1}},
      {2, {{1, 0, 0.0F}, {1, 1, 0.0F}}, false, 1, {1, 1}},
      // Directed edges are heard at both ends, each as often as it occurs: from 2 twice, from 0 once.
      {3, {{0, 1, 0.0F}, {1, 2, 0.0F}, {2, 1, 0.0F}}, false, 1, {1, 2, 1}},
      {3, {{0, 1, 0.0F}, {2, 1, 0.0F}, {2, 1, 0.0F}}, false, 1, {1, 2, 1}},
      {3, {{0, 1, 0.0F}, {2, 1, 0.0F}}, false, 1, {1, 0, 1}},  // a tie
      {4, {{3, 1, 0.0F}, {3, 2, 0.0F}, {0, 3, 0.0F}}, true, 1, {3, 3, 3, 0}},
      // A path takes the smaller neighbour of each: its ends hear one only.
      {5, {{0, 1, 0.0F}, {1, 2, 0.0F}, {2, 3, 0.0F}, {3, 4, 0.0F}}, true, 1, {1, 0, 1, 2, 3}},
      {5, {{0, 1, 0.0F}, {1, 2, 0.0F}, {2, 3, 0.0F}, {3, 4, 0.0F}}, true, 2, {0, 1, 0, 1, 2}},
      // Two triangles: each has one label after two rounds.
      {6,
       {{0, 2, 0.0F}, {2, 4, 0.0F}, {4, 0, 0.0F}, {1, 3, 0.0F}, {3, 5, 0.0F}, {5, 1, 0.0F}},
       true,
       2,
       {0, 1, 0, 1, 0, 1}},
  };
  for (const Case& one : cases) {
    CAPTURE(&one - cases.data());
    const graph::BuiltGraph built(one.vertices, one.edges, {.undirected = one.undirected});
    CHECK(propagated_by_definition(built.graph, one.rounds).labels == one.right);
    CHECK(propagate(built.graph, one.rounds).labels == one.right);
    CHECK(propagate(built.graph, one.rounds, 2).labels == one.right);
  }
}

TEST_CASE("labels go one vertex further along a path in each round") {
  constexpr std::uint32_t kVertices = 3000;
  std::vector<graph::Edge> edges;
  for (std::uint32_t v = 0; v + 1 < kVertices; ++v) edges.emplace_back(v, v + 1, 0.0F);
  const graph::BuiltGraph built(kVertices, edges);
  const Labels labels = propagate(built.graph, 7, 2).labels;
  CHECK(labels == propagated_by_definition(built.graph, 7).labels);
  CHECK(labels[kVertices - 1] == kVertices - 8);
  CHECK(labels[1000] == 993);
  CHECK(labels[5] == 0);
}

TEST_CASE("labels are those of the definition around vertices of any degree") {
  // Hubs with 1 to 70 edges each among few vertices, some edges twice or both ways; and two with more labels
  // around them than are fetched at once.
  std::minstd_rand random(5);
  constexpr std::uint32_t kVertices = 3000;
  std::vector<graph::Edge> edges;
  for (std::uint32_t hub = 0; hub < 70; ++hub) {
    for (std::uint32_t i = 0; i <= hub; ++i) {
      const auto u = static_cast<std::uint32_t>(hub % 2 == 0 ? random() % 150 : random() % kVertices);
      edges.emplace_back(2999 - hub, u, 0.0F);
      if (i % 4 == 1) edges.emplace_back(u, 2999 - hub, 0.0F);
      if (i % 5 == 1) edges.push_back(edges.back());
    }
  }
  for (std::uint32_t v = 10; v < 2500; ++v)
    edges.emplace_back(v % 2 == 0 ? 2800 : v, v % 2 == 0 ? v : 2800, 0.0F);
  for (std::uint32_t v = 300; v < 1324; ++v) edges.emplace_back(v, 2801, 0.0F);
  check_labels(kVertices, edges);
}

TEST_CASE("labels are those of the definition in random graphs") {
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    std::minstd_rand random(seed + 1);
    const std::uint32_t vertices = 1 + seed * 29;
    std::vector<graph::Edge> edges;
    for (std::uint32_t i = 0; i < vertices * (1 + seed % 6); ++i) {
      const auto u = static_cast<std::uint32_t>(random() % vertices),
                 v = static_cast<std::uint32_t>(random() % vertices);
      edges.emplace_back(std::min(u, v) / (1 + seed % 3), v, 0.0F);  // some vertices have most edges
    }
    check_labels(vertices, edges);
  }
}

TEST_CASE("one label leads, and late changes are far from most vertices") {
  // Two cliques, of which one has most edges, and a long path whose labels go on changing.
  std::vector<graph::Edge> edges;
  for (std::uint32_t u = 0; u < 60; ++u)
    for (std::uint32_t v = 0; v < u; ++v) edges.emplace_back(u, v, 0.0F);
  for (std::uint32_t u = 60; u < 66; ++u)
    for (std::uint32_t v = 60; v < u; ++v) edges.emplace_back(u, v, 0.0F);
  edges.emplace_back(59, 65, 0.0F);
  for (std::uint32_t v = 66; v < 100; ++v) edges.emplace_back(v - 1, v, 0.0F);
  check_labels(101, edges);
}

TEST_CASE("a tie goes to the smallest label, also where labels share slots of the table") {
  VoteTable votes;
  for (const std::uint32_t size : {1U, 2U, 3U, 9U, 64U, 5000U}) {
    CAPTURE(size);
    std::minstd_rand random(size);
    for (int i = 0; i < 20; ++i) {
      Labels heard;
      std::map<PlainId, std::uint32_t> right;
      for (std::uint32_t j = 0; j < size; ++j)
        heard.push_back(static_cast<std::uint32_t>(random() % (1 + size / 2)) * 4096);
      if (i == 0) heard[0] = static_cast<PlainId>(graph::kMaxVertices - 1);  // the largest id there can be
      for (const PlainId label : heard) ++right[label];
      const auto best =
          std::ranges::max_element(right, [](const auto& a, const auto& b) { return a.second < b.second; });
      votes.start(size);
      votes.add(std::span(heard).first(size / 2));
      votes.add(std::span(heard).subspan(size / 2));
      CHECK(votes.winner() == best->first);
    }
  }
}

TEST_CASE("the label with more than half of the weight leads, in whatever order it comes") {
  LeadingLabel all, first, second;
  for (std::uint32_t i = 0; i < 100; ++i) {
    LeadingLabel& part = i % 3 == 0 ? first : second;
    for (LeadingLabel* one : {&all, &part}) {
      one->add(i + 10, 7);
      one->add(5, i < 50 ? 1 : 15);
    }
  }
  CHECK(all.label() == 5);
  first.add(second);
  CHECK(first.label() == 5);
}

TEST_CASE("labels go on from those of an earlier run as if they had never stopped") {
  const auto edges = graph::random_edges(60, 150, 5);
  for (const bool undirected : {false, true}) {
    const graph::BuiltGraph built(60, edges, {.undirected = undirected});
    for (const std::uint64_t before : {1, 2, 3, 7})
      for (const std::uint64_t rounds : {before, before + 1, before + 9})
        for (const JobCut& cut : kJobCuts) {
          CAPTURE(undirected);
          CAPTURE(before);
          CAPTURE(rounds);
          CAPTURE(cut.label());
          CHECK(propagate_in_two(built.graph, before, rounds, cut) ==
                propagated_by_definition(built.graph, rounds).labels);
        }
  }
}

TEST_CASE("labels of another graph are refused") {
  const graph::BuiltGraph built(3, {{0, 1, 1.0F}});
  run_in_each(built.graph, {}, {}, [&](Job& job) {
    Cdlp propagation(job);
    CHECK_THROWS_WITH_AS(propagation.resume(1, {0, 1, 3}),
                         "a label of the checkpoint is 3, but the graph has 3 vertices", Error);
    CHECK_THROWS_AS(propagation.resume(1, {0, 1}), Error);
  });
}

}  // namespace edgewire::kernels
