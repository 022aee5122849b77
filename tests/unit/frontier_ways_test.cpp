// The ways in which a frontier goes on: as long as more() says so, from the other side, in buckets, and where
// workers hand over what they tell.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "bootstraps.h"
#include "edgewire/frontier.h"
#include "frontier_graphs.h"
#include "graph_test.h"
#include "library_test.h"

namespace edgewire {

namespace {

/// What is in each level, by a queue.
std::vector<Totals> plain_totals(const std::vector<std::uint32_t>& levels,
                                 const std::vector<graph::Edge>& edges) {
  std::vector<Totals> all;
  const auto of = [&](std::uint32_t vertex) -> Totals& {
    if (all.size() <= levels[vertex]) all.resize(levels[vertex] + 1);
    return all[levels[vertex]];
  };
  for (std::uint32_t v = 0; v < levels.size(); ++v)
    if (levels[v] != kFar) ++of(v).vertices;
  for (const auto& edge : edges)
    if (levels[std::get<0>(edge)] != kFar) ++of(std::get<0>(edge)).edges;
  return all;
}

std::vector<graph::Edge> both_ways(std::vector<graph::Edge> edges) {
  const std::size_t size = edges.size();
  for (std::size_t i = 0; i < size; ++i)
    edges.emplace_back(std::get<1>(edges[i]), std::get<0>(edges[i]), std::get<2>(edges[i]));
  return edges;
}

/// The levels of a search from vertex 0 in one process.
struct Search {
  explicit Search(FrontierJob<std::uint32_t>& frontier_job)
      : job(frontier_job), levels(job.known(), kFar), wanted(job.known() / 64 + std::size_t{1}) {
    for (std::uint32_t v = 0; v < job.known(); ++v) wanted[v / 64] |= std::uint64_t{1} << v % 64;
    const Home home = job.home(VertexId(0));
    if (home.owner != job.rank()) return;
    frontier = {home.local};
    levels[home.local] = 0;
  }
  std::vector<LocalNumber> push(const std::vector<LocalNumber>& from, std::uint32_t before,
                                const std::function<bool(const Followed&)>& more) {
    return job.follow(
        from,
        [&](const FrontierRow& row, const auto& tell) {
          for (const KnownNumber target : row.targets) tell(target, 1);
        },
        [&](KnownNumber v, std::uint32_t) {
          std::uint32_t far = kFar;
          const auto level = before + static_cast<std::uint32_t>(job.step());
          return Once{std::atomic_ref(levels[v]).compare_exchange_strong(far, level)};
        },
        {}, more);
  }
  std::vector<std::uint32_t> gather() {
    levels.resize(job.owned());
    return job.gather(levels);
  }

  FrontierJob<std::uint32_t>& job;
  std::vector<std::uint32_t> levels;
  std::vector<std::uint64_t> wanted;
  std::vector<LocalNumber> frontier;
};

}  // namespace

TEST_CASE("who asks whether to go on learns what all processes have followed") {
  const auto edges = hubs_on_paths(3);
  const graph::BuiltGraph built(870, edges);
  const auto expected = plain_totals(plain_levels(870, edges), edges);
  for_each_cut([&](const JobOptions& options, int processes) {
    in_processes(processes, [&](launch::Bootstrap& bootstrap) {
      FrontierJob<std::uint32_t> job(bootstrap, built.graph, "counts", options);
      Search search(job);
      std::uint64_t supersteps = 0, wrong = 0;
      const auto sum_of_edges = [&](std::uint64_t first, std::uint64_t last) {
        std::uint64_t sum = 0;
        for (std::uint64_t l = first; l < last; ++l) sum += expected[l].edges;
        return sum;
      };
      const auto left = search.push(search.frontier, 0, [&](const Followed& done) {
        const std::uint64_t last = supersteps + done.supersteps - 1;
        // The end may be known only after a superstep that has followed nothing.
        const Totals of_last = last < expected.size() ? expected[last] : Totals{};
        if (done.last.vertices != of_last.vertices || done.last.edges != of_last.edges) ++wrong;
        if (done.edges_before != sum_of_edges(supersteps, std::min<std::uint64_t>(last, expected.size())))
          ++wrong;
        if (done.next && last + 1 < expected.size() && done.next->edges != expected[last + 1].edges) ++wrong;
        supersteps += done.supersteps;
        return supersteps < 100;  // in the second part of the graph
      });
      CHECK(wrong == 0);
      CHECK(supersteps >= 100);
      const Totals totals = job.totals(left);
      CHECK(totals.vertices == expected[supersteps].vertices);
      CHECK(totals.edges == expected[supersteps].edges);
    });
  });
}

TEST_CASE("a frontier that is pulled, and pushed in turn, reaches what a queue does") {
  const auto edges = both_ways(hubs_on_paths(2));
  constexpr std::uint32_t kAll = 640;  // the last ones are never reached
  const graph::BuiltGraph built(kAll, hubs_on_paths(2), {.undirected = true});
  const auto expected = plain_levels(kAll, edges);
  const auto totals = plain_totals(expected, edges);
  for (const std::uint32_t pulls : {1U, 3U, 1000U}) {
    CAPTURE(pulls);
    for_each_cut([&](const JobOptions& options, int processes) {
      std::vector<std::uint32_t> found;
      in_processes(processes, [&](launch::Bootstrap& bootstrap) {
        FrontierJob<std::uint32_t> job(bootstrap, built.graph, "pulls", options);
        Search search(job);
        std::uint32_t level = 0, wrong = 0;
        for (auto frontier = search.frontier; job.sum(frontier.size()) > 0;) {
          const std::uint32_t before = level;
          frontier = job.pull(
              frontier, search.wanted,
              [&](LocalNumber v, KnownNumber neighbour) {
                search.levels[v] = before + static_cast<std::uint32_t>(job.step());
                if (neighbour >= job.known()) std::atomic_ref(wrong).fetch_add(1);
              },
              [&](const Totals& next) {
                ++level;
                const Totals right = level < totals.size() ? totals[level] : Totals{};
                if (next.vertices != right.vertices || next.edges != right.edges) ++wrong;
                return level - before < pulls;
              });
          if (pulls > 3) continue;
          frontier = search.push(frontier, level, [](const Followed&) { return false; });
          ++level;
        }
        CHECK(wrong == 0);
        auto all = search.gather();
        if (bootstrap.rank() == 0) found = std::move(all);
      });
      CHECK(found == expected);
    });
  }
  const auto alone = launch::alone();
  FrontierJob<std::uint32_t> job(*alone, built.graph, "pulls");
  std::vector<std::uint64_t> few(job.known() / 64 - std::size_t{1});
  const auto nothing = [](const auto&...) { return false; };
  CHECK(graph::error_of([&] { job.pull({}, few, nothing, nothing); }) ==
        "pull: 9 words have no room for 640 vertices");
}

TEST_CASE("where workers hand over, one at a time hears what is for a vertex") {
  constexpr std::uint32_t kAll = 20'000;
  struct Sums {
    std::vector<std::uint64_t>& sums;
    std::atomic<bool>& shared;
    const FrontierJob<std::uint32_t>& job;
    bool is_news(KnownNumber, std::uint32_t value) const { return value != 0; }
    bool operator()(KnownNumber v, std::uint32_t value) const {
      if (job.is_shared()) shared = true;
      sums[v] += value;  // not atomic
      return value != 0;
    }
  };
  std::minstd_rand random(3);
  std::vector<graph::Edge> edges;
  for (std::uint32_t i = 0; i < 6 * kAll; ++i)
    edges.emplace_back(static_cast<std::uint32_t>(random() % kAll),
                       static_cast<std::uint32_t>(random() % (i % 2 == 0 ? 50 : kAll)), 1.0F);
  const graph::BuiltGraph built(kAll, edges);
  for (const std::uint32_t first : {kAll, 370U, 20U}) {  // all: bins; some: keepers; few: one worker
    std::vector<std::uint64_t> expected(kAll);
    for (const auto& [source, target, weight] : edges)
      if (source < first) expected[target] += source % 2;
    for (const int workers : {1, 2, 3}) {
      CAPTURE(first);
      CAPTURE(workers);
      const auto alone = launch::alone();
      FrontierJob<std::uint32_t> job(*alone, built.graph, "sums", {.workers = workers});
      job.hand_over(sizeof(std::uint64_t));
      for (int turn = 0; turn < 2; ++turn) {
        std::vector<std::uint64_t> sums(kAll);
        std::atomic<bool> shared = false;
        auto frontier = job.all();
        frontier.resize(first);
        auto next = job.superstep(
            frontier,
            [](const FrontierRow& row, const auto& tell) {
              for (const KnownNumber v : row.targets) tell(v, row.vertex % 2);
            },
            Sums{sums, shared, job});
        CHECK(sums == expected);
        CHECK(!shared);
        std::ranges::sort(next);
        CHECK(std::ranges::adjacent_find(next) == next.end());
        CHECK(static_cast<std::ptrdiff_t>(next.size()) == kAll - std::ranges::count(expected, 0ULL));
      }
    }
  }
}

TEST_CASE("vertices that wait in buckets settle at the least sums, the nearest first") {
  constexpr std::uint32_t kAll = 150;
  std::minstd_rand random(5);
  std::vector<graph::Edge> edges;
  for (std::uint32_t v = 0; v + 1 < kAll / 2; ++v) edges.emplace_back(v, v + 1, 40.0F);  // a long way
  for (std::uint32_t i = 0; i < 2 * kAll; ++i)
    edges.emplace_back(static_cast<std::uint32_t>(random() % (kAll - 20)),
                       static_cast<std::uint32_t>(random() % (kAll - 20)),
                       static_cast<float>(random() % 1000));
  const graph::BuiltGraph built(kAll, edges, {.weighted = true});
  std::vector<std::uint64_t> expected(kAll, ~0ULL);
  expected[0] = 0;
  for (bool falls = true; std::exchange(falls, false);)
    for (const auto& [source, target, weight] : edges)
      if (expected[source] != ~0ULL &&
          expected[source] + static_cast<std::uint64_t>(weight) < expected[target]) {
        expected[target] = expected[source] + static_cast<std::uint64_t>(weight);
        falls = true;
      }
  for (const std::uint64_t width : {20ULL, 300ULL, 1'000'000ULL}) {
    CAPTURE(width);
    for_each_cut([&](JobOptions options, int processes) {
      std::vector<std::uint64_t> found;
      options.weighted = true;
      in_processes(processes, [&](launch::Bootstrap& bootstrap) {
        FrontierJob<std::uint64_t> job(bootstrap, built.graph, "buckets", options);
        struct Bucket {
          std::vector<std::uint64_t>& sums;
          std::uint64_t width;
          std::uint64_t operator()(KnownNumber, std::uint64_t sum) const { return sum / width; }
          std::uint64_t operator()(KnownNumber v) const {
            return std::atomic_ref(sums[v]).load(std::memory_order_relaxed) / width;
          }
        };
        for (int turn = 0; turn < 2; ++turn) {  // buckets begin anew
          std::vector<std::uint64_t> sums(job.known(), ~0ULL), told(sums);
          std::vector<LocalNumber> start;
          if (const Home home = job.home(VertexId(0)); home.owner == job.rank()) {
            start = {home.local};
            sums[home.local] = 0;
          }
          const Bucket bucket{sums, width};
          std::uint64_t lowest = 0;
          std::atomic<std::uint64_t> falls = 0;
          job.settle_in_order(
              start,
              [&](const FrontierRow& row, const auto& tell) {
                if (options.workers == 1) {
                  if (job.step() < lowest) ++falls;
                  lowest = job.step();
                }
                if (bucket(KnownNumber(row.vertex)) < job.step()) return false;  // it was visited there
                const std::uint64_t sum = std::atomic_ref(sums[row.vertex]).load(std::memory_order_relaxed);
                for (std::size_t e = 0; e < row.targets.size(); ++e)
                  tell(row.targets[e], sum + static_cast<std::uint64_t>(row.weights[e]));
                return true;
              },
              [&](KnownNumber v, std::uint64_t sum) { return lower(sums[v], sum, job.is_shared()); }, bucket,
              [&](KnownNumber v) -> std::optional<std::uint64_t> {
                if (lower(told[v], sums[v])) return sums[v];
                return {};
              });
          CHECK(falls == 0);
          sums.resize(job.owned());
          auto all = job.gather(sums);
          if (bootstrap.rank() == 0) found = std::move(all);
        }
      });
      CHECK(found == expected);
    });
  }
}

}  // namespace edgewire
