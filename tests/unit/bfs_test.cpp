#include "kernels/bfs/bfs.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "edgewire/graph.h"
#include "frontier_test.h"
#include "kernels/bfs/by_source.h"
#include "launch/packing.h"

namespace edgewire::kernels {

using namespace frontier;

namespace {

using Parents = Bfs::Parents;

constexpr std::uint32_t kLayered = 80'000;
/// Of layers whose vertices have four edges each to the next one. Around 1024 edges workers start to share a
/// push, with more workers than cores around 4096, and up to 10000 edges, an eighth of the vertices, they
/// hand over what they find.
constexpr std::uint32_t kWidths[] = {1,    4,    16,   64,   255,  256,  257,  600,  1000,
                                     1023, 1024, 1025, 2000, 2499, 2500, 2501, 4000, 100};

/// Far from each other, as long as they are fewer than all.
std::uint32_t spread(std::uint64_t number) { return static_cast<std::uint32_t>(number * 30'011 % kLayered); }

std::vector<graph::Edge> layered_edges() {
  std::vector<graph::Edge> edges;
  std::uint32_t first = 0;
  for (std::size_t l = 0; l + 1 < std::size(kWidths); ++l) {
    const std::uint32_t next = first + kWidths[l];
    for (std::uint32_t i = 0; i < kWidths[l]; ++i)
      for (std::uint32_t k = 0; k < 4; ++k)
        edges.emplace_back(spread(first + i), spread(next + (i * 4 + k) % kWidths[l + 1]), 0.0F);
    first = next;
  }
  return edges;
}

struct Layers : graph::BuiltGraph {
  explicit Layers(bool undirected) : BuiltGraph(kLayered, layered_edges(), {.undirected = undirected}) {}
};

/// By global id.
struct Tree {
  std::vector<std::uint32_t> levels;
  std::vector<PlainId> parents;
  explicit Tree(std::uint64_t vertices) : levels(vertices, Bfs::kNone), parents(vertices, Bfs::kNoParent) {}
  Tree(std::vector<std::uint32_t> all_levels, std::vector<PlainId> all_parents)
      : levels(std::move(all_levels)), parents(std::move(all_parents)) {}
  bool operator==(const Tree&) const = default;
};

/// With the smallest parents.
Tree by_queue(const Graph& graph, VertexId source) {
  Tree found(graph.vertices());
  std::vector<VertexId> queue{source};
  found.levels[source] = 0;
  found.parents[source] = source;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const VertexId u = queue[i];
    for (const VertexId v : graph::Row{graph, u}.targets()) {
      if (found.levels[v] == Bfs::kNone) {
        found.levels[v] = found.levels[u] + 1;
        queue.push_back(v);
      }
      if (found.levels[v] == found.levels[u] + 1) found.parents[v] = std::min<PlainId>(found.parents[v], u);
    }
  }
  return found;
}

/// One search after the other.
std::vector<Tree> search_from(const Graph& graph, std::span<const VertexId> sources, const JobCut& cut,
                              Parents parents) {
  std::vector<Tree> all(sources.size(), Tree(graph.vertices()));
  run_in_each(graph, cut, {}, [&](Job& job) {
    Bfs one(job, parents);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      one.run(sources[s]);
      put(job, one.levels(), all[s].levels);
      if (parents != Parents::none) put(job, one.parents(), all[s].parents);
    }
  });
  return all;
}

/// All searches at once, each by one worker.
std::vector<Tree> search_apart(const Graph& graph, std::span<const VertexId> sources, const JobCut& cut,
                               Parents parents) {
  std::vector<Tree> all(sources.size(), Tree(graph.vertices()));
  run_in_each(graph, cut, {.for_tasks = true}, [&](Job& job) {
    BfsBySource searches(job, {.parents = parents, .keep = job.rank() == 0});
    searches.run(sources);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      auto found = searches.bring(s);
      if (job.rank() > 0) continue;
      all[s].levels = std::move(found.levels);
      if (parents != Parents::none) all[s].parents = std::move(found.parents);
    }
  });
  return all;
}

/// Whether each reached vertex other than the source has an edge from its parent, one level before it.
bool are_parents(const Graph& graph, const Tree& found, std::uint32_t source) {
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    const VertexId u(found.parents[v]);
    if (found.levels[v] == Bfs::kNone || v == source) {
      if (u != (v == source ? PlainId{source} : Bfs::kNoParent)) return false;
      continue;
    }
    if (u >= graph.vertices() || found.levels[u] + 1 != found.levels[v]) return false;
    const auto targets = graph::Row{graph, u}.targets();
    if (std::ranges::find(targets, VertexId(v)) == targets.end()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("levels and parents through frontiers of all sizes, with any number of workers") {
  const VertexId sources[] = {VertexId(spread(0)), VertexId(spread(2000)),
                              VertexId(spread(0))};  // again: a search does not depend on the one before
  for (const bool undirected : {false, true}) {
    const Layers file(undirected);
    std::vector<Tree> right;
    for (const VertexId source : sources) right.push_back(by_queue(file.graph, source));
    REQUIRE(std::ranges::count(right[0].levels, Bfs::kNone) < kLayered - 19'000);
    for (const int processes : {1, 2}) {
      for (int workers = 1; workers <= (processes == 1 ? 5 : 2); ++workers) {
        CAPTURE(undirected);
        CAPTURE(processes);
        CAPTURE(workers);
        for (const Parents parents : {Parents::none, Parents::any, Parents::smallest}) {
          const auto found =
              search_from(file.graph, sources, {.processes = processes, .workers = workers}, parents);
          for (std::size_t s = 0; s < found.size(); ++s) {
            CHECK((found[s].levels == right[s].levels));
            if (parents == Parents::any) CHECK(are_parents(file.graph, found[s], sources[s]));
            // A pull takes the first parent that it finds: the smallest one, as rows are in order.
            if (parents == Parents::smallest) CHECK((found[s].parents == right[s].parents));
          }
        }
      }
    }
  }
}

TEST_CASE("levels and parents of graphs drawn by hand") {
  constexpr std::uint32_t kNone = Bfs::kNone;
  constexpr PlainId kNoParent = Bfs::kNoParent;
  struct Case {
    std::uint32_t vertices;
    std::vector<graph::Edge> edges;
    bool undirected;
    VertexId source;
    Tree right;  ///< with the smallest parents
  };
  const std::vector<graph::Edge> path{{0, 1, 0.0F}, {1, 2, 0.0F}, {2, 3, 0.0F}};
  // 3 is reached over 1 and 2, and 1 by an edge that occurs twice.
  const std::vector<graph::Edge> diamond{
      {0, 2, 0.0F}, {0, 1, 0.0F}, {0, 1, 0.0F}, {2, 3, 0.0F}, {1, 3, 0.0F}};
  const std::vector<Case> cases{
      {1, {}, false, 0, {{0}, {0}}},
      {1, {{0, 0, 0.0F}, {0, 0, 0.0F}}, true, 0, {{0}, {0}}},
      {2, {}, false, 1, {{kNone, 0}, {kNoParent, 1}}},
      {2, {{0, 1, 0.0F}, {0, 1, 0.0F}, {1, 1, 0.0F}}, false, 0, {{0, 1}, {0, 0}}},
      {2, {{0, 1, 0.0F}, {0, 1, 0.0F}, {1, 1, 0.0F}}, false, 1, {{kNone, 0}, {kNoParent, 1}}},
      {2, {{0, 1, 0.0F}, {0, 1, 0.0F}, {1, 1, 0.0F}}, true, 1, {{1, 0}, {1, 1}}},
      {4, path, false, 1, {{kNone, 0, 1, 2}, {kNoParent, 1, 1, 2}}},
      {4, path, true, 1, {{1, 0, 1, 2}, {1, 1, 1, 2}}},
      {5, diamond, false, 0, {{0, 1, 1, 2, kNone}, {0, 0, 0, 1, kNoParent}}},
      {5, diamond, true, 3, {{2, 1, 1, 0, kNone}, {1, 3, 3, 3, kNoParent}}},
      // Two components, a triangle each.
      {6,
       {{0, 2, 0.0F}, {2, 4, 0.0F}, {4, 0, 0.0F}, {1, 3, 0.0F}, {3, 5, 0.0F}, {5, 1, 0.0F}},
       false,
       4,
       {{1, kNone, 2, kNone, 0, kNone}, {4, kNoParent, 0, kNoParent, 4, kNoParent}}},
  };
  for (const Case& one : cases) {
    CAPTURE(&one - cases.data());
    const graph::BuiltGraph built(one.vertices, one.edges, {.undirected = one.undirected});
    const std::vector<VertexId> sources{one.source};
    CHECK(by_queue(built.graph, one.source) == one.right);
    for (const JobCut& cut : {kJobCuts.front(), kJobCuts.back()}) {
      CAPTURE(cut.label());
      CHECK(search_from(built.graph, sources, cut, Parents::smallest)[0] == one.right);
      CHECK(search_apart(built.graph, sources, cut, Parents::smallest)[0] == one.right);
      const Tree any = search_from(built.graph, sources, cut, Parents::any)[0];
      CHECK(any.levels == one.right.levels);
      CHECK(are_parents(built.graph, any, one.source));
    }
  }
}

TEST_CASE("a long path has a level for each vertex, and both ends are as far") {
  constexpr std::uint32_t kVertices = 3000, kMiddle = 1700;
  std::vector<graph::Edge> edges;
  for (std::uint32_t v = 0; v + 1 < kVertices; ++v) edges.emplace_back(v, v + 1, 0.0F);
  for (const bool undirected : {false, true}) {
    const graph::BuiltGraph built(kVertices, edges, {.undirected = undirected});
    Tree right(kVertices);
    for (std::uint32_t v = undirected ? 0 : kMiddle; v < kVertices; ++v) {
      right.levels[v] = v < kMiddle ? kMiddle - v : v - kMiddle;
      right.parents[v] = v < kMiddle ? v + 1 : std::max(v, kMiddle + 1) - 1;
    }
    const std::vector<VertexId> sources{VertexId(kMiddle)};
    for (const int processes : {1, 2})
      CHECK((search_from(built.graph, sources, {.processes = processes}, Parents::any)[0] == right));
  }
}

TEST_CASE("searches apart find what a search by all workers finds, in random graphs") {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    CAPTURE(seed);
    const std::uint32_t vertices = 2 + seed * 23;
    const graph::BuiltGraph built(vertices, graph::random_edges(vertices, vertices * (1 + seed % 3), seed),
                                  {.undirected = seed % 2 == 0});
    std::vector<VertexId> sources;
    std::vector<Tree> right;
    for (VertexId source{}; source < vertices; source += 1 + seed) {
      sources.push_back(source);
      right.push_back(by_queue(built.graph, source));
    }
    const JobCut& cut = kJobCuts[seed % kJobCuts.size()];
    CHECK((search_from(built.graph, sources, cut, Parents::smallest) == right));
    CHECK((search_apart(built.graph, sources, cut, Parents::smallest) == right));
    for (std::size_t s = 0; s < sources.size(); ++s) right[s].parents.assign(vertices, Bfs::kNoParent);
    CHECK((search_apart(built.graph, sources, cut, Parents::none) == right));
  }
}

TEST_CASE("edges, the farthest vertices and a path are told of each search, by all workers or apart") {
  // From 0 five vertices are reached along six edges, 4 and 5 last; from 6 only 7.
  const graph::BuiltGraph built(
      8, {{0, 1, 0.0F}, {0, 2, 0.0F}, {1, 3, 0.0F}, {2, 3, 0.0F}, {3, 4, 0.0F}, {3, 5, 0.0F}, {6, 7, 0.0F}});
  const std::vector<VertexId> sources{0, 6};
  const BfsQuestion question{.farthest = 3, .target = VertexId{5}};
  const auto check = [](std::size_t s, const BfsAnswer& answer) {
    using Farthest = std::vector<process::Candidate<std::uint64_t>>;
    const bool first = s == 0;
    transport::require(answer.edges == (first ? 6 : 1), "other edges");
    transport::require(
        answer.farthest == (first ? Farthest{{3, 4}, {3, 5}, {2, 3}} : Farthest{{1, 7}, {0, 6}}),
        "other vertices");
    transport::require(answer.path == (first ? std::vector<VertexId>{0, 1, 3, 5} : std::vector<VertexId>()),
                       "another path");
  };
  for (const JobCut& cut : kJobCuts) {
    CAPTURE(cut.label());
    run_in_each(built.graph, cut, {}, [&](Job& job) {
      Bfs search(job, Parents::smallest);
      for (std::size_t s = 0; s < sources.size(); ++s) {
        search.run(sources[s]);
        const auto mine = answer_of(job, search, sources[s], question);
        const auto all = join_answers(job.bootstrap(), mine, question.farthest);
        if (job.rank() == 0) check(s, all);
      }
    });
    run_in_each(built.graph, cut, {.for_tasks = true}, [&](Job& job) {
      // Rank 0 says how many are farthest.
      BfsBySource searches(job, {.parents = Parents::smallest,
                                 .question = {job.rank() == 0 ? question.farthest : 0, question.target},
                                 .checksum = [](std::span<const std::uint32_t> levels) {
                                   return levels[3] + std::uint64_t{5};
                                 }});
      const auto supersteps = searches.run(sources);
      transport::require(supersteps.size() == 2 && supersteps[0].size() == 4 && supersteps[1].size() == 2,
                         "other supersteps");
      for (std::size_t s = 0; s < sources.size(); ++s) {
        const auto all = join_answers(job.bootstrap(), searches.answer(s), question.farthest);
        if (job.rank() == 0) check(s, all);
        const auto sum = launch::allreduce(job.bootstrap(), searches.checksum(s), std::plus<>());
        transport::require(sum == (s == 0 ? 7 : std::uint64_t{Bfs::kNone} + 5), "another checksum");
      }
    });
  }
}

TEST_CASE("searches run apart as was asked for, or where it pays") {
  const SearchPlan pays{.vertices = 1000, .sources = 8, .processes = 2, .workers = 2};
  const auto with = [&](const auto& change) {
    SearchPlan plan = pays;
    change(plan);
    return BfsBySource::chosen(plan, Parents::any);
  };
  CHECK(with([](SearchPlan&) {}));
  CHECK_FALSE(with([](SearchPlan& plan) { plan.sources = 7; }));
  CHECK_FALSE(with([](SearchPlan& plan) { plan.on_disks = true; }));
  CHECK_FALSE(with([](SearchPlan& plan) { plan.processes = plan.workers = 1; }));
  CHECK_FALSE(with([](SearchPlan& plan) { plan.apart = false; }));
  CHECK(with([](SearchPlan& plan) { plan.apart = true, plan.on_disks = true, plan.sources = 1; }));
  // 2 workers with 16 bytes each for a vertex, and 5 results of 8 bytes, or of 4 without parents.
  constexpr std::uint64_t kMost = (std::uint64_t{4} << 30) / (2 * 16 + 5 * 8);
  CHECK(with([](SearchPlan& plan) { plan.vertices = kMost; }));
  CHECK_FALSE(with([](SearchPlan& plan) { plan.vertices = kMost + 1; }));
  SearchPlan large = pays;
  large.vertices = kMost + 1;
  CHECK(BfsBySource::chosen(large, Parents::none));
}

TEST_CASE("a graph without vertices has no source") {
  const graph::BuiltGraph built(0, {});
  for (const int processes : {1, 2})
    run_in_each(built.graph, {.processes = processes}, {}, [&](Job& job) {
      Bfs search(job, Parents::any);
      bool refused = false;
      try {
        search.run(0);
      } catch (const UsageError&) {
        refused = true;
      }
      transport::require(refused && search.levels().empty(), "a source was found");
      job.bootstrap().allgather("");
    });
}

}  // namespace edgewire::kernels
