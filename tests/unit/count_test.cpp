#include "plan/count.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <tuple>

#include "error.h"
#include "plan/balance.h"
#include "plan/edge_partition.h"

using namespace edgewire::plan;
using edgewire::VertexId;

namespace {

struct Graph {
  std::vector<std::uint64_t> offsets{0};
  std::vector<VertexId> targets;
  Rows rows() const { return {offsets, targets}; }
};

/// Skewed: small ids are drawn more often. With duplicates and self loops.
Graph random_graph(std::uint32_t vertices, std::uint32_t degree, unsigned seed) {
  std::mt19937 random(seed);
  Graph graph;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::vector<VertexId> row(random() % (2 * degree + 1));
    for (auto& target : row) {
      target = VertexId(static_cast<std::uint32_t>(random() % (random() % vertices + 1)));
    }
    std::sort(row.begin(), row.end());
    graph.targets.insert(graph.targets.end(), row.begin(), row.end());
    graph.offsets.push_back(graph.targets.size());
  }
  return graph;
}

template <class Work>
void each_edge(const Graph& graph, const Work& work) {
  for (VertexId v{}; v + 1 < graph.offsets.size(); ++v) {
    for (auto e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) work(v, graph.targets[e]);
  }
}

void check_equal(const Traffic& counted, const Traffic& expected) {
  REQUIRE(counted.processes() == expected.processes());
  const auto processes = static_cast<std::size_t>(expected.processes());
  for (std::size_t p = 0; p < processes; ++p) {
    for (std::size_t q = 0; q < processes; ++q) CHECK(counted.at(p, q) == expected.at(p, q));
  }
}

/// The definitions, with sets.
void check_owned(const Graph& graph, const Ownership& ownership, const CountOptions& options,
                 std::uint32_t passes) {
  const int processes = ownership.processes();
  Traffic edges(processes), worker(processes), process(processes);
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> by_worker;
  std::set<std::tuple<std::uint32_t, std::uint32_t>> by_process;
  each_edge(graph, [&](VertexId source, VertexId target) {
    const auto from = ownership.place(source);
    const auto to = ownership.place(target).owner;
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
  const EdgePartition partition = EdgePartition::hilbert(Cells(graph.rows(), 2), 5);
  const auto whole = count_partitioned(graph.rows(), partition, {.threads = 2});
  const auto parts = count_partitioned(graph.rows(), partition, {.threads = 2, .memory_bytes = 1});
  CHECK(whole.passes == 1);
  CHECK(parts.passes == 24);
  check_equal(parts.values, whole.values);
  CHECK(parts.computed_edges == whole.computed_edges);
}

TEST_CASE("a graph without edges or vertices sends nothing") {
  for (const std::uint32_t vertices : {0U, 1U, 100U}) {
    Graph graph;
    graph.offsets.assign(vertices + 1, 0);
    const auto ownership = Ownership::hash(vertices, 4);
    const auto owned = count_owned(graph.rows(), ownership, {});
    CHECK(volume(owned.edges, 8, true).values_sent_total == 0);
    CHECK(volume(count_cover(graph.rows(), ownership, owned.edges, {}).values, 4).values_sent_total == 0);
    for (const auto& partition : {EdgePartition::hilbert(Cells(graph.rows(), 2), 4),
                                  EdgePartition::grid(Cells(graph.rows(), 2), 4)}) {
      CHECK(volume(count_partitioned(graph.rows(), partition, {}).values, 4).values_sent_total == 0);
    }
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

TEST_CASE("the Hilbert curve visits each cell once, in steps of one cell, quadrant by quadrant") {
  for (const unsigned bits : {0U, 1U, 2U, 5U}) {
    const std::uint32_t side = 1U << bits;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cells(std::size_t{side} * side, {side, side});
    for (std::uint32_t x = 0; x < side; ++x) {
      for (std::uint32_t y = 0; y < side; ++y) cells[hilbert_position(x, y, bits)] = {x, y};
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      REQUIRE(cells[i].first < side);
      if (i == 0) continue;
      const auto [x, y] = cells[i];
      const auto [before_x, before_y] = cells[i - 1];
      REQUIRE((std::max(x, before_x) - std::min(x, before_x)) +
                  (std::max(y, before_y) - std::min(y, before_y)) ==
              1);
    }
  }
}

TEST_CASE("edge partitions: every process computes its share, values are what the definition says") {
  const auto graph = random_graph(5000, 10, 4);
  const Cells cells(graph.rows(), 3);
  for (const int processes : {1, 2, 4, 6, 70}) {
    for (const bool on_grid : {false, true}) {
      const auto partition =
          on_grid ? EdgePartition::grid(cells, processes) : EdgePartition::hilbert(cells, processes);
      std::vector<std::uint64_t> computed(static_cast<std::size_t>(processes));
      std::set<std::tuple<std::uint32_t, std::uint32_t>> out, in;
      each_edge(graph, [&](std::uint32_t source, std::uint32_t target) {
        const auto holder = partition.row(source)[target >> partition.shift()];
        ++computed[holder];
        out.emplace(source, holder);
        in.emplace(target, holder);
      });
      const auto counted = count_partitioned(graph.rows(), partition, {.threads = 3});
      CHECK(counted.computed_edges == computed);
      // Each vertex saves two values when one process holds both kinds of its edges, else one.
      std::uint64_t values = out.size() + in.size();
      std::set<std::uint32_t> both, any;
      for (const auto& [vertex, holder] : out) {
        any.insert(vertex);
        if (in.contains({vertex, holder})) both.insert(vertex);
      }
      for (const auto& [vertex, holder] : in) any.insert(vertex);
      values -= any.size() + both.size();
      CHECK(volume(counted.values, 4).values_sent_total == values);
      if (processes <= 6) {
        const auto mean = static_cast<double>(graph.targets.size()) / processes;
        const auto most = *std::max_element(computed.begin(), computed.end());
        CHECK(static_cast<double>(most) < (on_grid ? 1.6 : 1.05) * mean);
      }
    }
  }
}
