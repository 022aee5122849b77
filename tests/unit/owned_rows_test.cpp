// Rows of owned vertices in memory are those of the file.
#include "partition/owned_rows.h"

#include <algorithm>
#include <numeric>

#include "dense/plan/exchange_plan.h"
#include "graph_test.h"

namespace edgewire::plan {
namespace {

/// A copy of the rows of process p.
partition::OwnedRows in_memory(const Graph& graph, const partition::Ownership& ownership, int p) {
  const auto rank = static_cast<std::uint32_t>(p);
  graph.verify_rows(0, graph.vertices());
  partition::RowMemory rows{{0}, {}};
  std::vector<VertexId> targets;
  std::string weights;
  for (LocalNumber local{}; local < ownership.count(rank); ++local) {
    const graph::Row row{graph, ownership.vertex(rank, local)};
    targets.insert(targets.end(), row.targets().begin(), row.targets().end());
    const auto bytes = row.weights().bytes();
    weights.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    rows.begins.push_back(targets.size());
  }
  rows.entries = topology::NodeMemory(targets.size() * sizeof(VertexId), -1, "test");
  std::ranges::copy(targets, rows.entries.as<VertexId>().begin());
  topology::NodeMemory kept(weights.size(), -1, "test");
  std::ranges::copy(weights, kept.as<char>().begin());
  return {graph, ownership, std::move(rows), std::move(kept)};
}

/// Slots stay in the order of entries.
ExchangePlan plan_of(const partition::OwnedRows& rows, const partition::Ownership& ownership, int p,
                     Strategy strategy) {
  ExchangePlan plan(rows, ownership, p, OwnedVertices(rows, ownership, p, Layout::degree, graph::in_turn),
                    strategy, 2, graph::in_turn, rows.graph().weighted());
  std::vector<std::size_t> entries;
  for (std::size_t s = 0; s < plan.streams().size(); ++s) entries.push_back(plan.entries(s).size());
  std::vector<std::uint32_t> positions(rows.graph().vertices());
  std::iota(positions.begin(), positions.end(), 0U);
  plan.put_in_order(
      [&](std::size_t s) { return std::span<const std::uint32_t>(positions).first(entries[s]); },
      graph::in_turn);
  return plan;
}

void check_same(const ExchangePlan& there, const ExchangePlan& here) {
  CHECK(std::ranges::equal(there.owned().ids(), here.owned().ids()));
  CHECK(there.edges() == here.edges());
  CHECK(there.destinations() == here.destinations());
  for (std::size_t s = 0; s < there.streams().size(); ++s) {
    CHECK(there.streams()[s].slots == here.streams()[s].slots);
    CHECK(std::ranges::equal(there.slot_sources(s), here.slot_sources(s)));
    CHECK(std::ranges::equal(there.slot_weights(s), here.slot_weights(s)));
  }
  for (int q = 0; q < 3; ++q) CHECK(std::ranges::equal(there.mirrors(q), here.mirrors(q)));
  EdgeRows expected, found;
  for (std::uint32_t first = 0; first < there.sources(); first += kRowBlock) {
    const auto last = std::min(there.sources(), first + kRowBlock);
    there.read(first, last, expected);
    here.read(first, last, found);
    REQUIRE(found.ends == expected.ends);
    REQUIRE(found.destinations == expected.destinations);
    REQUIRE(found.weights == expected.weights);
  }
}

TEST_CASE("a plan of rows in memory is that of rows in the file") {
  for (const bool weighted : {false, true}) {
    const graph::TemporaryDirectory folder;
    const Graph graph = graph::skewed_graph(folder, 3000, 20'000, weighted);
    std::string owners;
    for (std::size_t v = 0; v < graph.vertices(); ++v) owners += std::to_string(v * v % 7 % 3) + "\n";
    graph::write_file(folder / "parts", owners);
    for (const auto& ownership :
         {partition::Ownership::hash(graph.vertices(), 3), partition::Ownership::ranges(graph.offsets(), 3),
          partition::Ownership::from_file(folder / "parts", graph.vertices(), 3)}) {
      for (const Strategy strategy :
           {Strategy::slots, Strategy::cover, Strategy::edge, Strategy::process, Strategy::worker}) {
        CAPTURE(weighted);
        CAPTURE(to_name(strategy));
        for (int p = 0; p < 3; ++p)
          check_same(plan_of(graph, ownership, p, strategy),
                     plan_of(in_memory(graph, ownership, p), ownership, p, strategy));
      }
    }
  }
}

TEST_CASE("degrees and weights stay when targets are forgotten, and degrees when they are taken") {
  const graph::TemporaryDirectory folder;
  const Graph graph = graph::skewed_graph(folder, 300, 2000, true);
  const auto ownership = partition::Ownership::hash(graph.vertices(), 2);
  partition::OwnedRows rows = in_memory(graph, ownership, 1);
  const auto check = [&](bool weights) {
    for (LocalNumber local{}; local < ownership.count(1); ++local) {
      const graph::Row right{graph, ownership.vertex(1, local)};
      CHECK(rows.degree(right.vertex) == right.degree());
      if (weights)
        CHECK(std::ranges::equal(rows[right.vertex].weights().bytes(), right.weights().bytes()));
      else
        CHECK(rows[right.vertex].weights().empty());
    }
  };
  rows.forget_targets();
  check(true);
  rows.forget_edges();
  check(false);
  rows = in_memory(graph, ownership, 1);
  const partition::RowMemory taken = rows.take();
  check(true);
  CHECK(taken.begins.back() == taken.entries.as<VertexId>().size());
}

}  // namespace
}  // namespace edgewire::plan
