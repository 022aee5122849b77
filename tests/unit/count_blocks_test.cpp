#include "dense/plan/edge_partition.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dense/plan/block_routes.h"
#include "graph_test.h"
#include "random_rows.h"

using namespace edgewire::partition;
using namespace edgewire::plan;
using edgewire::VertexId;

namespace {

using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // process, vertex

/// The values that are needed when computed_by(source, target, number of the edge) computes the edges.
template <class ComputedBy>
Traffic needed(const RandomRows& graph, const Ownership& owners, const ComputedBy& computed_by) {
  Traffic values(owners.processes());
  Pairs mirrors, sums;
  std::size_t number = 0;
  each_edge(graph, [&](VertexId source, VertexId target) {
    const std::uint32_t process = computed_by(source, target, number++);
    const auto from = owners.home(source).owner, to = owners.home(target).owner;
    if (process != from && mirrors.emplace(process, source).second) ++values.at(from, process);
    if (process != to && sums.emplace(process, target).second) ++values.at(process, to);
  });
  return values;
}

std::uint32_t holder_of(const EdgePartition& partition, VertexId source, VertexId target) {
  return partition.row(source)[partition.strip(target)];
}

std::uint64_t total(const Traffic& values) { return volume(values, {8}).values_sent_total; }

std::vector<BlockEdges> blocks_of(const RandomRows& graph, const EdgePartition& partition) {
  return read_blocks(graph.rows(), {}, partition, 0, static_cast<std::uint32_t>(partition.processes()), 3,
                     edgewire::graph::in_turn);
}

}  // namespace

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

TEST_CASE("ranges are cut evenly by edges and vertices") {
  const auto graph = random_graph(5000, 10, 4);
  for (const std::uint32_t parts : {1U, 3U, 16U}) {
    const auto bounds = cut_evenly(graph.offsets, parts);
    REQUIRE(bounds.size() == parts + 1);
    CHECK(bounds.front() == 0);
    CHECK(bounds.back() == 5000);
    for (std::uint32_t p = 0; p < parts; ++p) {
      REQUIRE(bounds[p] <= bounds[p + 1]);
      const double edges = static_cast<double>(graph.offsets[bounds[p + 1]] - graph.offsets[bounds[p]]) /
                           static_cast<double>(graph.targets.size());
      CHECK(4 * edges + (bounds[p + 1] - bounds[p]) / 5000.0 == doctest::Approx(5.0 / parts).epsilon(0.02));
    }
  }
  CHECK(cut_evenly(std::vector<std::uint64_t>(101, 0), 4) ==
        std::vector<edgewire::PlainId>{0, 25, 50, 75, 100});
  CHECK(cut_evenly(std::vector<std::uint64_t>{0}, 3) == std::vector<edgewire::PlainId>{0, 0, 0, 0});
}

TEST_CASE("in a grid the owner of a vertex is in the row and in the column of all its edges") {
  const auto graph = random_graph(5000, 10, 4);
  for (const auto& [processes, columns] :
       std::map<int, std::uint32_t>{{1, 1}, {2, 2}, {4, 2}, {6, 3}, {7, 7}, {64, 8}}) {
    const auto partition = partition_edges("grid", graph.rows(), processes, 2);
    each_edge(graph, [&, columns = columns](VertexId source, VertexId target) {
      const auto holder = holder_of(partition, source, target);
      REQUIRE(holder / columns == partition.owners().home(source).owner / columns);
      REQUIRE(holder % columns == partition.owners().home(target).owner % columns);
    });
  }
}

TEST_CASE("on the curve each process holds one stretch, with its share of the edges between owners") {
  const auto graph = random_graph(5000, 10, 4);
  for (const int processes : {1, 2, 5, 16}) {
    const Cells cells(graph.offsets, processes);
    const auto partition = partition_edges("hilbert", graph.rows(), processes, 3);
    const auto owner = [&](VertexId v) { return partition.owners().home(v).owner; };
    std::map<std::uint32_t, std::uint32_t> holders;  // by cell
    std::vector<std::uint64_t> held(static_cast<std::size_t>(processes));
    std::uint64_t between = 0;
    each_edge(graph, [&](VertexId source, VertexId target) {
      const auto holder = holder_of(partition, source, target);
      if (owner(source) == owner(target)) {
        REQUIRE(holder == owner(source));
        return;
      }
      ++held[holder];
      ++between;
      holders[partition.strip(source) * cells.side() + partition.strip(target)] = holder;
    });
    std::set<std::uint32_t> met;
    std::uint32_t last = ~0U;
    for (const auto cell : cells.along_curve()) {
      const auto found = holders.find(cell);
      if (found == holders.end()) continue;
      if (found->second != last) REQUIRE(met.insert(found->second).second);
      last = found->second;
    }
    CHECK(met.size() == (processes == 1 ? 0 : static_cast<std::size_t>(processes)));
    for (const auto edges : held)
      CHECK(static_cast<double>(edges) ==
            doctest::Approx(static_cast<double>(between) / processes).epsilon(0.05));
  }
}

TEST_CASE("the edges of all blocks are those of the graph, each in the block of its holder") {
  const auto graph = random_graph(2000, 6, 7);
  for (const char* const how : {"grid", "hilbert"}) {
    const auto partition = partition_edges(how, graph.rows(), 6, 1);
    std::vector<std::multiset<std::pair<std::uint32_t, std::uint32_t>>> expected(6), found(6);
    each_edge(graph, [&](VertexId source, VertexId target) {
      expected[holder_of(partition, source, target)].emplace(source, target);
    });
    const auto blocks = blocks_of(graph, partition);
    for (std::size_t b = 0; b < 6; ++b) {
      REQUIRE(std::ranges::is_sorted(blocks[b].sources));
      for (std::size_t i = 0; i < blocks[b].sources.size(); ++i) {
        REQUIRE(std::ranges::is_sorted(blocks[b].row(i)));
        for (const auto target : blocks[b].row(i)) found[b].emplace(blocks[b].sources[i], target);
      }
    }
    CHECK(found == expected);
    const auto alone = read_blocks(graph.rows(), {}, partition, 3, 4, 5, edgewire::graph::in_turn);
    CHECK(alone.size() == 1);
    CHECK(alone[0].sources == blocks[3].sources);
    CHECK(alone[0].targets == blocks[3].targets);
  }
}

TEST_CASE("slots of blocks are what the definition says, also with little memory") {
  const auto graph = random_graph(5000, 10, 4);
  for (const int processes : {1, 2, 4, 6, 70}) {
    for (const char* const how : {"grid", "hilbert"}) {
      const auto partition = partition_edges(how, graph.rows(), processes, 2);
      const auto counted = count_blocks(graph.rows(), partition, Strategy::slots, {.threads = 3});
      std::vector<std::uint64_t> computed(static_cast<std::size_t>(processes));
      check_equal(counted.values,
                  needed(graph, partition.owners(), [&](VertexId source, VertexId target, std::size_t) {
                    const auto holder = holder_of(partition, source, target);
                    ++computed[holder];
                    return holder;
                  }));
      CHECK(counted.computed_edges == computed);
      CHECK(counted.passes == (processes == 1 ? 0 : 1));
      const auto slowly = count_blocks(graph.rows(), partition, Strategy::slots,
                                       {.threads = 2, .memory_bytes = block_bytes(graph.rows(), processes)});
      check_equal(slowly.values, counted.values);
      CHECK(slowly.passes == (processes == 1 ? 0 : static_cast<std::uint32_t>(processes)));
    }
  }
}

TEST_CASE("routes: who computes an edge is its holder or the owner of an end, and values are counted right") {
  const auto graph = random_graph(3000, 12, 5);
  for (const char* const how : {"grid", "hilbert"}) {
    for (const int processes : {2, 4, 9, 16}) {
      const auto partition = partition_edges(how, graph.rows(), processes, 2);
      const auto& owners = partition.owners();
      const auto blocks = blocks_of(graph, partition);
      std::map<Route, std::uint64_t> sums;
      std::map<Route, Traffic> values;
      for (const Route route : {Route::holder, Route::direct, Route::mixed}) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint16_t>> computed_by;
        for (std::uint32_t b = 0; b < blocks.size(); ++b) {
          const auto routed = route_block(blocks[b], owners, b, route);
          REQUIRE(routed.computed_by.size() == blocks[b].edges());
          sums[route] += routed.values;
          for (std::size_t i = 0; i < blocks[b].sources.size(); ++i)
            for (auto e = blocks[b].ends[i]; e < blocks[b].ends[i + 1]; ++e) {
              const auto process = routed.computed_by[e];
              const auto from = owners.home(blocks[b].sources[i]).owner,
                         to = owners.home(blocks[b].targets[e]).owner;
              if (route == Route::direct) REQUIRE((process == from || process == to));
              REQUIRE((process == b || process == from || process == to));
              computed_by[{blocks[b].sources[i], blocks[b].targets[e]}].push_back(process);
            }
        }
        // Equal edges are taken one by one.
        values.emplace(route, needed(graph, owners, [&](VertexId source, VertexId target, std::size_t) {
                         auto& all = computed_by.at({source, target});
                         const auto process = all.back();
                         all.pop_back();
                         return process;
                       }));
        if (std::string_view(how) == "grid")
          CHECK(total(values.at(route)) == sums[route]);
        else
          CHECK(total(values.at(route)) <= sums[route]);
      }
      const auto best = sums[Route::mixed] < sums[Route::direct] ? Route::mixed : Route::direct;
      const auto counted = count_blocks(graph.rows(), partition, Strategy::cover, {.threads = 2});
      check_equal(counted.values, values.at(best));
      CHECK(total(counted.values) <= total(values.at(Route::holder)));
      // The least that processes with these vertices send without the help of others.
      const auto owned = count_owned(graph.rows(), owners, {});
      const auto covered = total(count_cover(graph.rows(), owners, owned.edges, {}).values);
      CHECK(total(counted.values) <= (std::string_view(how) == "grid" ? covered : covered + covered / 20));
    }
  }
}

TEST_CASE("a dense block between other processes goes through its holder") {
  // Each of 8 x 8 processes owns ten vertices; all vertices have edges to all others.
  RandomRows graph;
  for (std::uint32_t v = 0; v < 640; ++v) {
    for (std::uint32_t target = 0; target < 640; ++target) graph.targets.emplace_back(target);
    graph.offsets.push_back(graph.targets.size());
  }
  const auto partition = partition_edges("grid", graph.rows(), 64, 1);
  // A vertex has seven mirrors in its row and seven sums in its column.
  CHECK(total(count_blocks(graph.rows(), partition, Strategy::cover, {}).values) == 640 * 14);
  const auto owned = count_owned(graph.rows(), partition.owners(), {});
  CHECK(total(count_cover(graph.rows(), partition.owners(), owned.edges, {}).values) == 640 * 63);
}

TEST_CASE("a graph without edges or vertices sends nothing, whoever owns its edges") {
  for (const std::uint32_t vertices : {0U, 1U, 100U}) {
    RandomRows graph;
    graph.offsets.assign(vertices + 1, 0);
    for (const char* const how : {"grid", "hilbert"})
      for (const Strategy strategy : {Strategy::slots, Strategy::cover})
        CHECK(total(count_blocks(graph.rows(), partition_edges(how, graph.rows(), 4, 2), strategy, {})
                        .values) == 0);
  }
}

TEST_CASE("what processes tell each other of blocks arrives, or is refused by name") {
  const auto graph = random_graph(300, 6, 9);
  const auto partition = partition_edges("grid", graph.rows(), 4, 1);
  const auto& owners = partition.owners();
  auto blocks = blocks_of(graph, partition);
  for (std::size_t e = 0; e < blocks[1].edges(); ++e) blocks[1].weights.push_back(static_cast<double>(e) / 3);
  for (const std::size_t b : {0UL, 1UL}) {
    const auto back = unpack(pack(blocks[b]), b == 1, 2, 300);
    CHECK(back.sources == blocks[b].sources);
    CHECK(back.ends == blocks[b].ends);
    CHECK(back.targets == blocks[b].targets);
    CHECK(back.weights == blocks[b].weights);
  }
  const auto refused = [](const Words& words, bool weighted) {
    CHECK_THROWS_WITH_AS(unpack(words, weighted, 2, 300),
                         "rank 2 sent a faulty exchange plan: edges of blocks", edgewire::Error);
  };
  refused({7}, false);
  refused({7, 0}, false);
  refused({7, 2, 1}, false);
  refused({300, 1, 1}, false);
  refused({7, 1, 300}, false);
  refused({7, 1, 1}, true);
  refused({7, 0xFFFFFFFF, 1}, true);
  refused({7, 2, 3, 2}, false);

  const auto mine = lists_for(blocks[0], owners, 0);
  PeerLists theirs;
  take_announced(theirs, announce(mine[1], owners), owners, 1, 0);
  CHECK(theirs.mirrors_to == mine[1].mirrors_from);
  CHECK(theirs.sums_from == mine[1].sums_to);
  CHECK(!theirs.mirrors_to.empty());
  for (const Words& wrong : {Words{}, Words{2, 0}, Words{2, 1, 0}, Words{2, 1, 1}, Words{1, owners.count(1)},
                             Words{0, owners.count(1)}, Words{0, 3, 2}}) {
    PeerLists lists;
    CHECK_THROWS_WITH_AS(take_announced(lists, wrong, owners, 1, 3),
                         "rank 3 sent a faulty exchange plan: edges of blocks", edgewire::Error);
  }
}

TEST_CASE("rows in any order are sorted, and edges of several parts are united") {
  RandomRows graph;
  graph.offsets = {0, 4, 4, 6};
  for (const std::uint32_t target : {2U, 0U, 2U, 1U, 1U, 0U}) graph.targets.emplace_back(target);
  const std::array<double, 6> weights{20, 0, 21, 10, 11, 1};
  const auto partition = partition_edges("grid", graph.rows(), 1, 1);
  const auto blocks = read_blocks(
      graph.rows(),
      {edgewire::graph::WeightType::f64, reinterpret_cast<const std::byte*>(weights.data()), weights.size()},
      partition, 0, 1, 2, edgewire::graph::in_turn);
  const auto ids = [](std::initializer_list<std::uint32_t> all) {
    std::vector<VertexId> made;
    for (const std::uint32_t one : all) made.emplace_back(one);
    return made;
  };
  const auto& all = blocks[0];
  CHECK(all.sources == ids({0, 2}));
  CHECK(all.ends == std::vector<std::uint64_t>{0, 4, 6});
  CHECK(std::ranges::equal(all.targets, ids({0, 1, 2, 2, 0, 1})));
  CHECK(std::ranges::equal(all.weights, std::vector<double>{0, 10, 20, 21, 1, 11}));
  RoutedBlock routed{{0, 1, 0, 2, 1, 0}, 0};  // as if there were three processes
  const auto parts = split(all, routed, 3);
  CHECK(parts[2].sources == ids({0}));
  const auto again = unite(std::vector<BlockEdges>{parts[2], parts[0], parts[1]});
  CHECK(again.sources == all.sources);
  CHECK(again.ends == all.ends);
  CHECK(std::ranges::equal(again.targets, all.targets));
  CHECK(std::ranges::is_permutation(again.weights, all.weights));
}

TEST_CASE("blocks that do not fit the memory are named") {
  const auto graph = random_graph(3000, 8, 3);
  CHECK_THROWS_WITH_AS(count_blocks(graph.rows(), partition_edges("grid", graph.rows(), 2, 1),
                                    Strategy::slots, {.memory_bytes = 1000}),
                       doctest::Contains("blocks of edges need 1 MB of memory for one of 2 processes"),
                       edgewire::Error);
}
