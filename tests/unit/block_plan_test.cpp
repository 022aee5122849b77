#include "dense/plan/block_plan.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "block_lists.h"
#include "dense/plan/edge_partition.h"
#include "graph_test.h"
#include "partition/column_addresses.h"

namespace edgewire::plan {
namespace {

using graph::TemporaryDirectory;

const ForEach kOneThread = graph::in_turn;

struct Process {
  std::unique_ptr<partition::Ownership> ownership;
  std::unique_ptr<OwnedVertices> owned;
  std::unique_ptr<BlockPlan> plan;
  std::vector<std::uint32_t> bounds;
};

struct Job {
  EdgePartition partition;
  std::vector<Process> sides;
};

Job make_job(const Graph& graph, std::string_view how, int processes, Layout layout, std::uint32_t width) {
  const Rows rows{graph.offsets(), graph.targets()};
  Job job{partition_edges(how, rows, processes, 2), {}};
  const partition::Ownership& owners = job.partition.owners();
  auto blocks = read_blocks(rows, graph.weights(), job.partition, 0, static_cast<std::uint32_t>(processes), 3,
                            kOneThread);
  auto lists = lists_of_all(blocks, owners);
  for (int p = 0; p < processes; ++p) {
    const auto rank = static_cast<std::size_t>(p);
    Process& side = job.sides.emplace_back();
    side.ownership = std::make_unique<partition::Ownership>(owners);
    side.owned = std::make_unique<OwnedVertices>(graph, *side.ownership, p, layout, kOneThread);
    side.plan =
        std::make_unique<BlockPlan>(graph, std::move(blocks[rank]), std::move(lists[rank]), *side.ownership,
                                    p, *side.owned, layout, 1, kOneThread, graph.weighted());
    side.bounds = side.plan->cut_columns(width, 1 << 20);
    side.plan->to_addresses(side.bounds, kOneThread);
  }
  return job;
}

using Values = std::map<std::tuple<std::uint32_t, std::uint32_t>, std::set<VertexId>>;  // by sender, receiver

/// What the edges need, one after the other: its source's message at the process that holds the edge, and the
/// sum of that process at the owner of its destination.
struct Needed {
  Needed(const Graph& graph, const Job& job) {
    const partition::Ownership& ownership = *job.sides[0].ownership;
    for (VertexId s{}; s < graph.vertices(); ++s) {
      for (std::uint64_t e = graph.offsets()[s]; e < graph.offsets()[s + 1]; ++e) {
        const VertexId t = graph.targets()[e];
        const std::uint32_t holder = job.partition.row(s)[job.partition.strip(t)];
        const std::uint32_t from = ownership.home(s).owner, to = ownership.home(t).owner;
        if (from != holder) mirrors[{from, holder}].insert(s);
        if (to != holder) sums[{holder, to}].insert(t);
        edges[holder].emplace_back(s, t, graph.weighted() ? static_cast<float>(graph.weights()[e]) : 0.0F);
      }
    }
  }
  Values mirrors, sums;
  std::map<std::uint32_t, std::vector<std::tuple<std::uint32_t, std::uint32_t, float>>> edges;  // by holder
};

std::vector<VertexId> ids_of(const Process& side, std::span<const OwnedIndex> indexes) {
  std::vector<VertexId> ids;
  for (const auto i : indexes) ids.push_back(side.owned->ids()[i]);
  return ids;
}

/// The ids of the sources, by owner and number, and of the destinations of a process, from what the plans of
/// all say.
struct Numbering {
  Numbering(const Job& job, std::uint32_t rank) : sources(job.sides.size()) {
    const Process& side = job.sides[rank];
    sources[rank].assign(side.owned->ids().begin(), side.owned->ids().end());
    destinations = sources[rank];
    for (std::uint32_t p = 0; p < job.sides.size(); ++p) {
      const auto& peer = side.plan->peers()[p];
      for (const auto local : peer.mirrors_from) sources[p].push_back(side.ownership->vertex(p, local));
      REQUIRE(peer.first_sum == destinations.size());
      const auto sums = ids_of(job.sides[p], job.sides[p].plan->peers()[rank].sums_from);
      REQUIRE(sums.size() == peer.sums_to);
      destinations.insert(destinations.end(), sums.begin(), sums.end());
    }
  }
  std::vector<std::vector<VertexId>> sources;
  std::vector<VertexId> destinations;
};

void check_lists(const Job& job, const Needed& needed, const Traffic& counted) {
  const auto processes = static_cast<std::uint32_t>(job.sides.size());
  for (std::uint32_t p = 0; p < processes; ++p) {
    for (std::uint32_t q = 0; q < processes; ++q) {
      const auto& to = job.sides[p].plan->peers()[q];
      const auto& from = job.sides[q].plan->peers()[p];
      REQUIRE(std::ranges::is_sorted(to.mirrors_to));
      REQUIRE(std::ranges::is_sorted(from.sums_from));
      const auto mirrors = ids_of(job.sides[p], to.mirrors_to);
      std::vector<VertexId> received;
      for (const auto local : from.mirrors_from) received.push_back(job.sides[q].ownership->vertex(p, local));
      CHECK(mirrors == received);
      const auto sums = ids_of(job.sides[q], from.sums_from);
      CHECK(sums.size() == to.sums_to);
      const auto expected = [p, q](const Values& values) {
        const auto found = values.find({p, q});
        return found == values.end() ? std::set<VertexId>() : found->second;
      };
      CHECK(std::set(mirrors.begin(), mirrors.end()) == expected(needed.mirrors));
      CHECK(std::set(sums.begin(), sums.end()) == expected(needed.sums));
      CHECK(std::set(mirrors.begin(), mirrors.end()).size() == mirrors.size());
      CHECK(std::set(sums.begin(), sums.end()).size() == sums.size());
      if (p != q) CHECK(mirrors.size() + sums.size() == counted.at(p, q));
    }
  }
}

void check_edges(const Job& job, std::uint32_t rank, Needed& needed, bool weighted) {
  const Process& side = job.sides[rank];
  const BlockPlan& plan = *side.plan;
  const Numbering numbers(job, rank);
  REQUIRE(numbers.destinations.size() == plan.destinations());
  REQUIRE(side.bounds.back() == plan.destinations());
  std::vector<std::tuple<std::uint32_t, std::uint32_t, float>> found;
  for (std::size_t owner = 0; owner < job.sides.size(); ++owner) {
    const BlockPlan::Rows from(plan, owner);
    REQUIRE(from.sources() == numbers.sources[owner].size());
    std::uint64_t edges = 0;
    for (std::uint32_t first = 0; first < from.sources(); first += kRowBlock) {
      const std::uint32_t last = std::min(from.sources(), first + kRowBlock);
      EdgeRows rows;
      from.read(first, last, rows);
      REQUIRE(rows.ends.size() == last - first);
      REQUIRE(rows.destinations.size() == from.edges(first, last));
      REQUIRE(rows.weights.size() == (weighted ? rows.destinations.size() : 0));
      std::size_t e = 0;
      for (std::uint32_t s = first; s < last; ++s) {
        for (; e < rows.ends[s - first]; ++e) {
          const std::uint32_t address = rows.destinations[e];
          const std::uint32_t number = side.bounds.at(address >> partition::kOffsetBits) + (address & 0xFFFF);
          REQUIRE(number < side.bounds.at((address >> partition::kOffsetBits) + 1));
          found.emplace_back(numbers.sources[owner].at(s), numbers.destinations.at(number),
                             weighted ? rows.weights.at(e) : 0.0F);
        }
      }
      REQUIRE(e == rows.destinations.size());
      edges += e;
    }
    CHECK(from.edges(0, from.sources()) == edges);
  }
  CHECK(plan.edges() == found.size());
  auto& expected = needed.edges[rank];
  std::ranges::sort(expected);
  std::ranges::sort(found);
  CHECK(found == expected);
}

TEST_CASE(
    "blocks of edges: each edge is computed once, and both sides know the same values in the same order") {
  for (const auto& [vertices, edges, weighted] :
       {std::tuple(900U, 6000U, false), std::tuple(900U, 6000U, true), std::tuple(5U, 7U, false)}) {
    const TemporaryDirectory directory;
    const auto graph = graph::skewed_graph(directory, vertices, edges, weighted);
    graph.verify_rows(0, vertices);
    const Rows rows{graph.offsets(), graph.targets()};
    for (const auto* how : {"hilbert", "grid"}) {
      for (const int processes : {1, 2, 3, 8}) {
        for (const auto layout : {Layout::degree, Layout::given}) {
          CAPTURE(how);
          CAPTURE(processes);
          const auto job = make_job(graph, how, processes, layout, 100);
          Needed needed(graph, job);
          check_lists(job, needed, count_blocks(rows, job.partition, Strategy::slots, {}).values);
          for (std::uint32_t p = 0; p < job.sides.size(); ++p) check_edges(job, p, needed, weighted);
        }
      }
    }
  }
}

TEST_CASE("vertices without edges have owners, too, and spread evenly") {
  const TemporaryDirectory directory;
  graph::build(directory / "g.ew", 1000, {{0, 1, 0}, {999, 998, 0}}, {});
  const auto graph = Graph::open(directory / "g.ew");
  graph.verify_rows(0, 1000);
  const auto job = make_job(graph, "hilbert", 4, Layout::degree, 100);
  for (std::uint32_t p = 0; p < 4; ++p) {
    CHECK(job.sides[0].ownership->count(p) >= 247);
    CHECK(job.sides[0].ownership->count(p) <= 253);
  }
}

}  // namespace
}  // namespace edgewire::plan
