// Kernels of a caller's own that follow a frontier, through the public headers.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "bootstraps.h"
#include "edgewire/frontier.h"
#include "frontier_graphs.h"
#include "graph_test.h"
#include "library_test.h"

namespace edgewire {

namespace {

/// Each vertex tells the weights of its edges, or 1, along them. Returns the sums at their targets.
template <class Value>
std::vector<std::uint64_t> sums_at_targets(const Graph& graph, int processes, const JobOptions& options) {
  std::vector<std::uint64_t> all;
  in_processes(processes, [&](launch::Bootstrap& bootstrap) {
    FrontierJob<Value> job(bootstrap, graph, "sums at targets", options);
    const std::vector<LocalNumber> frontier = job.all();
    bool homes_agree = true;
    for (LocalNumber v{}; v < job.owned(); ++v) {
      const Home home = job.home(job.vertex(v));
      homes_agree = homes_agree && home.owner == static_cast<std::uint32_t>(bootstrap.rank()) &&
                    std::uint32_t{home.local} == v;
    }
    CHECK(homes_agree);
    CHECK(job.sum(job.owned()) == graph.vertices());
    std::vector<std::atomic<std::uint64_t>> sums(job.owned());
    std::atomic<std::uint64_t> visited = 0, wrong = 0;
    const auto next = job.superstep(
        frontier,
        [&](const FrontierRow& row, const auto& tell) {
          ++visited;
          const VertexId vertex = job.vertex(row.vertex);
          const graph::Row ids(graph, vertex);
          if (ids.degree() != row.targets.size()) ++wrong;
          if (row.weights.empty() != (!options.weighted || row.targets.empty())) ++wrong;
          for (std::size_t i = 0; i < row.targets.size(); ++i) {
            if (job.vertex(row.targets[i]) != ids.targets()[i]) ++wrong;
            tell(row.targets[i], static_cast<Value>(row.weights.empty() ? 1.0 : row.weights[i]));
          }
        },
        [&](KnownNumber v, Value value) {
          if (v >= job.owned()) return true;
          sums[v] += static_cast<std::uint64_t>(value);
          return false;
        });
    CHECK(next.empty());
    CHECK(wrong == 0);
    CHECK(job.sum(visited) == graph.vertices());
    std::vector<std::uint64_t> mine(sums.begin(), sums.end());
    auto gathered = job.gather(mine);
    if (bootstrap.rank() == 0)
      all = std::move(gathered);
    else
      CHECK(gathered.empty());
  });
  return all;
}

/// Searches by follow(); the number of the superstep is the level.
std::vector<std::uint32_t> followed_levels(const Graph& graph, int processes, const JobOptions& options) {
  std::vector<std::uint32_t> all;
  std::mutex mutex;
  std::set<std::uint64_t> last_steps;  // of all processes
  in_processes(processes, [&](launch::Bootstrap& bootstrap) {
    FrontierJob<std::uint32_t> job(bootstrap, graph, "levels", options);
    std::vector<std::uint32_t> levels(job.known(), kFar);
    std::vector<LocalNumber> start;
    if (const Home home = job.home(VertexId(0)); home.owner == job.rank()) {
      start.push_back(home.local);
      levels[home.local] = 0;
    }
    job.follow(
        start,
        [&](const FrontierRow& row, const auto& tell) {
          for (const KnownNumber target : row.targets) tell(target, levels[row.vertex] + 1);
        },
        [&](KnownNumber v, std::uint32_t level) {
          CHECK(level == job.step());
          std::uint32_t far = kFar;
          return std::atomic_ref(levels[v]).compare_exchange_strong(far, level);
        });
    {
      const std::lock_guard lock(mutex);
      last_steps.insert(job.step());
    }
    levels.resize(job.owned());
    auto gathered = job.gather(levels);
    if (bootstrap.rank() == 0) all = std::move(gathered);
  });
  CHECK(last_steps.size() == 1);
  return all;
}

}  // namespace

TEST_CASE("a frontier of one's own sends values of 4 and 8 bytes, with weights and without") {
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges, {.weighted = true});
  for (const bool weighted : {false, true}) {
    std::vector<std::uint64_t> expected(kVertices);
    for (const auto& [source, target, weight] : edges)
      expected[target] += weighted ? static_cast<std::uint64_t>(weight) : 1;
    for (const int processes : {1, 2}) {
      for (const int workers : {1, 2}) {
        CAPTURE(weighted);
        CAPTURE(processes);
        CAPTURE(workers);
        const JobOptions options{.workers = workers, .weighted = weighted};
        CHECK(sums_at_targets<float>(built.graph, processes, options) == expected);
        CHECK(sums_at_targets<std::uint32_t>(built.graph, processes, options) == expected);
        CHECK(sums_at_targets<double>(built.graph, processes, options) == expected);
        CHECK(sums_at_targets<std::uint64_t>(built.graph, processes, options) == expected);
      }
    }
  }
}

TEST_CASE("a frontier refuses vertices of other processes, and values of too many") {
  const graph::BuiltGraph built(kVertices, some_edges());
  const auto alone = launch::alone();
  FrontierJob<std::uint32_t> job(*alone, built.graph, "nothing");
  const auto nothing = [](const auto&...) { return false; };
  const std::vector<LocalNumber> beyond{LocalNumber(kVertices)};
  CHECK(graph::error_of([&] { job.superstep(beyond, nothing, nothing); }) ==
        "frontier: 60 is no local number of rank 0, which owns 60 vertices");
  CHECK(graph::error_of([&] { job.follow(beyond, nothing, nothing); }) ==
        "frontier: 60 is no local number of rank 0, which owns 60 vertices");
  CHECK(graph::error_of([&] { job.gather(std::vector<int>(kVertices + 1)); }) ==
        "gather: rank 0 owns 60 vertices, and has 61 values");
  CHECK(graph::contains(graph::error_of([&] {
                          const FrontierJob<float> weighted(*alone, built.graph, "x", {.weighted = true});
                        }),
                        "the graph has no weights"));
  const graph::BuiltGraph heavy(kVertices, some_edges(), {.weighted = true});
  const auto line = graph::error_of([&] {
    in_processes(2, [&](launch::Bootstrap& bootstrap) {
      const FrontierJob<float> one(bootstrap, heavy.graph, "x", {.weighted = bootstrap.rank() == 1});
    });
  });
  CHECK(graph::contains(line, "weights at rank 1"));
}

TEST_CASE("supersteps have their numbers in all processes, also while one of them goes on alone") {
  const std::vector<std::pair<std::uint32_t, std::vector<graph::Edge>>> graphs{
      {kVertices, some_edges()}, {870, hubs_on_paths(3)}, {1, {}}, {2, {{0, 1, 1.0F}, {1, 0, 1.0F}}}};
  for (const auto& one : graphs) {
    const std::uint32_t vertices = one.first;
    const auto& edges = one.second;
    const graph::BuiltGraph built(vertices, edges);
    const auto expected = plain_levels(vertices, edges);
    for_each_cut([&](const JobOptions& options, int processes) {
      CAPTURE(vertices);
      CHECK(followed_levels(built.graph, processes, options) == expected);
    });
  }
}

TEST_CASE("a vertex that has heard news several times is once in the next frontier") {
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges);
  std::set<std::uint32_t> targets;
  for (const auto& edge : edges) targets.insert(std::get<1>(edge));
  for (const int workers : {1, 2}) {
    std::atomic<std::size_t> all = 0;
    in_processes(2, [&](launch::Bootstrap& bootstrap) {
      FrontierJob<double> job(bootstrap, built.graph, "news", {.workers = workers});
      auto next = job.superstep(
          job.all(),
          [](const FrontierRow& row, const auto& tell) {
            for (const KnownNumber target : row.targets) tell(target, 0.5);
          },
          [](KnownNumber, double) { return true; });
      std::ranges::sort(next);
      CHECK(std::ranges::adjacent_find(next) == next.end());
      CHECK(std::ranges::all_of(next, [&](LocalNumber v) { return targets.contains(job.vertex(v)); }));
      all += next.size();
    });
    CHECK(all == targets.size());
  }
}

TEST_CASE("a worker that waits for others of its process hears what peers send to it meanwhile") {
  constexpr std::uint32_t kHalf = 128, kEdges = 40, kTold = 4000;  // of a vertex: more than the rings hold
  std::vector<graph::Edge> edges;
  for (std::uint32_t v = 0; v < 2 * kHalf; ++v)
    for (std::uint32_t i = 0; i < kEdges; ++i)
      edges.emplace_back(v, (v < kHalf ? kHalf : 0) + (v + i) % kHalf, 1.0F);
  const graph::BuiltGraph built(2 * kHalf, edges);
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    FrontierJob<std::uint32_t> job(bootstrap, built.graph, "much", {.workers = 2, .ownership = "ranges"});
    std::array<std::atomic<bool>, 2> visits{};
    std::atomic<std::uint64_t> told = 0, heard = 0;
    // Worker 0 of rank 0 tells worker 0 of rank 1, which soon has nothing to do, and worker 1 of rank 1 tells
    // worker 1 of rank 0.
    job.settle(
        job.all(),
        [&](int worker, const FrontierRow& row, const auto& tell) {
          visits[static_cast<std::size_t>(worker)] = true;
          while (!visits[0] || !visits[1]) std::this_thread::yield();
          if (static_cast<std::uint32_t>(worker) != job.rank()) return;
          for (std::uint32_t i = 0; i < kTold; ++i) tell(row.targets[i % kEdges], 1);
          told += kTold;
        },
        [&](KnownNumber v, std::uint32_t value) {
          if (v >= job.owned()) return true;
          heard += value;
          return false;
        });
    CHECK(job.sum(heard) == job.sum(told));
    CHECK(told >= kTold);
  });
}

TEST_CASE("what a visit throws ends the job in all processes") {
  const graph::BuiltGraph built(kVertices, some_edges());
  CHECK(graph::error_of([&] {
          in_processes(2, [&](launch::Bootstrap& bootstrap) {
            FrontierJob<float> job(bootstrap, built.graph, "a fault", {});
            job.follow(
                job.all(),
                [&](const FrontierRow&, const auto&) {
                  if (job.rank() == 1) throw std::runtime_error("no more");
                },
                [](KnownNumber, float) { return false; });
          });
        }).find("no more") != std::string::npos);
}

}  // namespace edgewire
