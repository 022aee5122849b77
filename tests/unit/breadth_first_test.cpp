#include "frontier/breadth_first.h"

#include <algorithm>
#include <string>
#include <vector>

#include "bootstraps.h"
#include "graph_test.h"
#include "transport_fixture.h"

namespace edgewire::frontier {

namespace {

using Parents = BreadthFirst::Parents;

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
  std::vector<std::uint32_t> levels = std::vector<std::uint32_t>(kLayered, BreadthFirst::kNone);
  std::vector<std::uint32_t> parents = std::vector<std::uint32_t>(kLayered, BreadthFirst::kNone);
};

/// With the smallest parents.
Tree by_queue(const graph::GraphFile& graph, std::uint32_t source) {
  Tree found;
  std::vector<std::uint32_t> queue{source};
  found.levels[source] = 0;
  found.parents[source] = source;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t u = queue[i];
    for (const std::uint32_t v : graph::Row{graph, u}.targets()) {
      if (found.levels[v] == BreadthFirst::kNone) {
        found.levels[v] = found.levels[u] + 1;
        queue.push_back(v);
      }
      if (found.levels[v] == found.levels[u] + 1) found.parents[v] = std::min(found.parents[v], u);
    }
  }
  return found;
}

/// One search after the other, in processes that are threads.
std::vector<Tree> search_from(const graph::GraphFile& graph, std::span<const std::uint32_t> sources,
                              int processes, int workers, Parents parents) {
  std::vector<Tree> all(sources.size());
  const auto bootstraps = launch::bootstraps(processes);
  transport::parallel(processes, [&](int p) {
    FrontierJob job(*bootstraps[static_cast<std::size_t>(p)], graph,
                    {.seat = {.workers = workers, .transport = "shm"}, .kernel = "bfs"});
    BreadthFirst one(job, parents);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      one.run(sources[s]);
      for (std::uint32_t local = 0; local < job.owned(); ++local) {
        const std::uint32_t v = job.ownership().vertex(job.rank(), local);
        all[s].levels[v] = one.levels()[local];
        if (parents != Parents::none) all[s].parents[v] = one.parents()[local];
      }
    }
  });
  return all;
}

/// Whether each reached vertex other than the source has an edge from its parent, one level before it.
bool are_parents(const graph::GraphFile& graph, const Tree& found, std::uint32_t source) {
  for (std::uint32_t v = 0; v < kLayered; ++v) {
    const std::uint32_t u = found.parents[v];
    if (found.levels[v] == BreadthFirst::kNone || v == source) {
      if (u != (v == source ? source : BreadthFirst::kNone)) return false;
      continue;
    }
    if (u >= kLayered || found.levels[u] + 1 != found.levels[v]) return false;
    const auto targets = graph::Row{graph, u}.targets();
    if (std::ranges::find(targets, v) == targets.end()) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("levels and parents through frontiers of all sizes, with any number of workers") {
  const std::uint32_t sources[] = {spread(0), spread(2000),
                                   spread(0)};  // again: a search does not depend on the one before
  for (const bool undirected : {false, true}) {
    const Layers file(undirected);
    std::vector<Tree> right;
    for (const std::uint32_t source : sources) right.push_back(by_queue(file.graph, source));
    REQUIRE(std::ranges::count(right[0].levels, BreadthFirst::kNone) < kLayered - 19'000);
    for (const int processes : {1, 2}) {
      for (int workers = 1; workers <= (processes == 1 ? 5 : 2); ++workers) {
        CAPTURE(undirected);
        CAPTURE(processes);
        CAPTURE(workers);
        for (const Parents parents : {Parents::none, Parents::any, Parents::smallest}) {
          const auto found = search_from(file.graph, sources, processes, workers, parents);
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

}  // namespace edgewire::frontier
