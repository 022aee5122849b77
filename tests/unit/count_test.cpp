#include "dense/plan/count.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/error.h"
#include "random_rows.h"

using namespace edgewire::partition;
using namespace edgewire::plan;
using edgewire::VertexId;

namespace {

/// The definitions, with sets.
void check_owned(const RandomRows& graph, const Ownership& ownership, const CountOptions& options,
                 std::uint32_t passes) {
  const int processes = ownership.processes();
  Traffic edges(processes), worker(processes), process(processes);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> by_worker;
  std::set<std::tuple<std::uint32_t, std::uint32_t>> by_process;
  each_edge(graph, [&](VertexId source, VertexId target) {
    const auto from = ownership.home(source);
    const auto to = ownership.home(target).owner;
    const auto w = from.local % static_cast<std::uint32_t>(options.workers);
    ++edges.at(from.owner, to);
    worker.at(from.owner, to) += by_worker.emplace(from.owner, w, target).second ? 1 : 0;
    process.at(from.owner, to) += by_process.emplace(from.owner, target).second ? 1 : 0;
  });
  const auto counted = count_owned(graph.rows(), ownership, options);
  check_equal(counted.edges, edges);
  check_equal(counted.worker, worker);
  check_equal(counted.process, process);
  CHECK(counted.passes == passes);
}

}  // namespace

TEST_CASE("values of vertex owners are what the definitions say") {
  const auto graph = random_graph(1500, 6, 1);
  for (const int processes : {1, 2, 3, 8}) {
    for (const int workers : {1, 3, 8}) {
      for (const int threads : {1, 3}) {
        const CountOptions options{.workers = workers, .threads = threads};
        check_owned(graph, Ownership::hash(1500, processes), options, 1);
        check_owned(graph, Ownership::ranges(graph.offsets, processes), options, 1);
      }
    }
  }
  check_owned(graph, Ownership::hash(1500, 300), {.workers = 2, .threads = 3}, 1);  // shared counters
}

TEST_CASE("with little memory the count takes more passes and is the same") {
  const auto graph = random_graph(1500, 6, 2);
  const auto ownership = Ownership::hash(1500, 4);
  check_owned(graph, ownership,
              {.workers = 3, .threads = 2, .memory_bytes = 3 * 2 * 16 * 8 + 4 * 4 * 500 / 8}, 3);
  check_owned(graph, ownership, {.workers = 3, .threads = 2, .memory_bytes = 1},
              24);  // 64 destinations a pass
}

TEST_CASE("a graph without edges or vertices sends nothing") {
  for (const std::uint32_t vertices : {0U, 1U, 100U}) {
    RandomRows graph;
    graph.offsets.assign(vertices + 1, 0);
    const auto ownership = Ownership::hash(vertices, 4);
    const auto owned = count_owned(graph.rows(), ownership, {});
    CHECK(volume(owned.edges, {64}, true).values_sent_total == 0);
    CHECK(volume(count_cover(graph.rows(), ownership, owned.edges, {}).values, {32}).values_sent_total == 0);
  }
}

TEST_CASE("covers are never more than slots, equal their matching, and keep all edges") {
  const auto graph = random_graph(3000, 8, 3);
  for (const int processes : {1, 2, 5, 16}) {
    const auto ownership = Ownership::hash(3000, processes);
    const CountOptions options{.threads = 3};
    const auto owned = count_owned(graph.rows(), ownership, options);
    const auto cover = count_cover(graph.rows(), ownership, owned.edges, options);
    std::uint64_t total = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(processes); ++p) {
      CHECK(cover.values.at(p, p) == 0);
      for (std::size_t q = 0; q < static_cast<std::size_t>(processes); ++q) {
        if (p != q) CHECK(cover.values.at(p, q) <= owned.process.at(p, q));
        CHECK(cover.moved_edges.at(p, q) <= owned.edges.at(p, q));
        total += cover.values.at(p, q);
      }
    }
    CHECK(total == cover.matching);
    CHECK(cover.gap(total) == 0);
    std::uint64_t computed = 0;
    for (const auto edges : computed_edges(owned.edges, &cover.moved_edges)) computed += edges;
    CHECK(computed == graph.targets.size());
    // In groups of a few pairs at a time, and on one thread.
    const auto few =
        count_cover(graph.rows(), ownership, owned.edges,
                    {.threads = 3, .memory_bytes = std::max<std::uint64_t>(1, 600000 / processes)});
    check_equal(few.values, cover.values);
  }
}

TEST_CASE("a cover that cannot fit the memory says so") {
  const auto graph = random_graph(3000, 8, 3);
  const auto ownership = Ownership::hash(3000, 2);
  const auto owned = count_owned(graph.rows(), ownership, {});
  CHECK_THROWS_WITH_AS(count_cover(graph.rows(), ownership, owned.edges, {.memory_bytes = 1000}),
                       doctest::Contains("strategy cover needs"), edgewire::Error);
}
