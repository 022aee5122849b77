// What processes of kernels that follow a frontier will hold in memory.
#include "bounds/memory.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph_test.h"
#include "kernels/descriptor.h"

namespace edgewire::bounds {

using namespace kernels;
namespace {

constexpr std::uint32_t kVertices = 40;

/// Each vertex has edges to those that its multiples by 3 and 7 stand for, the first one twice.
std::vector<graph::Edge> some_edges() {
  std::vector<graph::Edge> edges;
  for (std::uint32_t v = 0; v < kVertices; v += 1 + v % 2) {
    edges.emplace_back(v, 3 * v % kVertices, 0.0F);
    edges.emplace_back(v, 3 * v % kVertices, 0.0F);
    edges.emplace_back(v, (7 * v + 1) % kVertices, 0.0F);
  }
  return edges;
}

TEST_CASE("shares of processes are those that sets of vertices have") {
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges);
  for (const int processes : {1, 3}) {
    const auto ownership = partition::Ownership::hash(kVertices, processes);
    const auto owner = [&](std::uint32_t v) { return ownership.home(VertexId(v)).owner; };
    const auto shares = count_shares(built.graph, ownership);
    CHECK((shares.vertices == kVertices && shares.edges == edges.size() && !shares.symmetric));
    REQUIRE(shares.processes.size() == static_cast<std::size_t>(processes));
    std::set<std::pair<std::uint32_t, std::uint32_t>> out, both;  // (process, vertex of another one)
    for (const auto& edge : edges) {
      const std::uint32_t u = std::get<0>(edge), v = std::get<1>(edge);
      if (owner(u) == owner(v)) continue;
      out.emplace(owner(u), v);
      both.emplace(owner(u), v);
      both.emplace(owner(v), u);
    }
    for (std::uint32_t p = 0; p < shares.processes.size(); ++p) {
      const auto count = [](const auto& all, const auto& counts) {
        std::uint64_t sum = 0;
        for (const auto& one : all) sum += counts(one) ? 1 : 0;
        return sum;
      };
      const ProcessShare& share = shares.processes[p];
      const auto knows = [&](const auto& pair) { return pair.first == p; };
      const auto is_known = [&](const auto& pair) { return owner(pair.second) == p; };
      CHECK(share.owned == ownership.count(p));
      CHECK(share.edges == count(edges, [&](const auto& edge) { return owner(std::get<0>(edge)) == p; }));
      CHECK(share.in_edges == count(edges, [&](const auto& edge) { return owner(std::get<1>(edge)) == p; }));
      CHECK(share.boundary == count(out, knows));
      CHECK(share.told == count(out, is_known));
      CHECK(share.boundary_both == count(both, knows));
      CHECK(share.told_both == count(both, is_known));
    }
  }
}

TEST_CASE("estimates need no graph") {
  const auto estimate = estimate_shares(3'500'000'000, 128'000'000'000, false, 1024);
  CHECK(estimate.processes.size() == 1024);
  const ProcessShare& share = estimate.processes.back();
  CHECK(share.owned == 3'417'969);
  CHECK(share.edges == 125'000'000);
  // V (1 - exp(-E / V)), but for those of the process itself.
  CHECK(static_cast<double>(share.boundary) == doctest::Approx(122.66e6).epsilon(0.001));
  CHECK(share.boundary_both > share.boundary);
  for (const auto& kernel : descriptors()) {
    if (kernel.dense) continue;
    const std::uint64_t bytes = frontier_memory(kernel.name, estimate);
    CHECK(bytes > 4 * share.edges);
    CHECK(bytes < 25'000'000'000);
    CHECK(frontier_memory(kernel.name, estimate_shares(3'500'000'000, 128'000'000'000, false, 512)) > bytes);
  }
  CHECK(estimate_shares(10, 20, true, 1).processes[0].boundary == 0);
  for (const std::uint64_t edges : {0, 1, 9})
    CHECK(estimate_shares(1, edges, false, 2).processes[0].boundary_both == 0);
  CHECK_THROWS_AS(estimate_shares(0, 1, false, 2), UsageError);
  CHECK_THROWS_AS(estimate_shares(std::uint64_t{1} << 32, 1, false, 2), UsageError);
  CHECK_THROWS_AS(frontier_memory("pagerank", estimate), UsageError);
}

TEST_CASE("the process with most counts") {
  GraphShares shares{1000, 3000, true, {{10, 100, 100, 5, 5, 5, 5}, {10, 2100, 2100, 5, 5, 5, 5}}};
  const auto uneven = frontier_memory("bfs", shares);
  shares.processes[0].edges = 2100;
  CHECK(frontier_memory("bfs", shares) == uneven);
  shares.processes[0].edges = 2200;
  CHECK(frontier_memory("bfs", shares) == uneven + 400);  // 4 bytes each
}

}  // namespace
}  // namespace edgewire::bounds
