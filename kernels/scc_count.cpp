// This file has the counts of scc.
#include <utility>

#include "edgewire/graph.h"
#include "kernels/count.h"
#include "kernels/scc.h"
#include "kernels/scc_run.h"

namespace edgewire::kernels {

namespace {

/// Counts where the edges are few: each process sends those to vertices of others to their owners, and then
/// to all others the edges of its vertices that have an edge in and an edge out, loops not counted.
class FewEdgesCount : public FrontierCount {
 public:
  explicit FewEdgesCount(const graph::GraphFile& graph)
      : FrontierCount("scc", Exactness::exact, sizeof(frontier::Record)), graph_(graph) {
    std::vector<bool> has_in(graph.vertices());
    std::vector<std::uint64_t> out(graph.vertices());
    for (VertexId u{}; u < graph.vertices(); ++u) {
      for (const VertexId v : graph::Row{graph_, u}.targets()) {
        if (u == v) continue;
        has_in[v] = true;
        ++out[u];
      }
    }
    for (VertexId u{}; u < graph.vertices(); ++u)
      if (has_in[u] && out[u] > 0) left_.emplace_back(u, out[u]);
  }

  std::vector<CountedStep> count(const partition::Ownership& ownership) const override {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    std::vector<CountedStep> steps{{"keep the edges that are left, both ways", 0, RecordLoad(processes)}};
    for (VertexId u{}; u < graph_.vertices(); ++u)
      for (const VertexId v : graph::Row{graph_, u}.targets())
        if (const auto from = ownership.home(u).owner, to = ownership.home(v).owner; from != to)
          steps.front().load.add(from, to);
    if (left_.empty()) return steps;
    CountedStep collect{"collect the edges that are left", left_.size(), RecordLoad(processes)};
    for (const auto& [u, edges] : left_) {
      const std::uint32_t owner = ownership.home(u).owner;
      for (std::uint32_t peer = 0; peer < processes; ++peer)
        if (peer != owner) collect.load.add(owner, peer, edges);
    }
    steps.push_back(std::move(collect));
    return steps;
  }

 private:
  const graph::GraphFile& graph_;
  std::vector<std::pair<VertexId, std::uint64_t>> left_;  ///< (vertex, its edges that are sent)
};

/// Counts where there are more edges: a sequential run counts what processes with one worker each send. With
/// more workers other vertices may join in a round, and other rounds pay.
class ManyEdgesCount : public FrontierCount {
 public:
  explicit ManyEdgesCount(const graph::GraphFile& graph)
      : FrontierCount("scc", Exactness::about, sizeof(frontier::Record)), graph_(graph) {}

  std::vector<CountedStep> count(const partition::Ownership& ownership) const override {
    return {{"all components", graph_.vertices(), SccRun(graph_, ownership).count()}};
  }

 private:
  const graph::GraphFile& graph_;
};

}  // namespace

std::unique_ptr<FrontierCount> count_strong_components(const graph::GraphFile& graph) {
  if (graph.symmetric()) return count_components(graph);
  if (graph.edges() > kernels::Scc::kCollected) return std::make_unique<ManyEdgesCount>(graph);
  return std::make_unique<FewEdgesCount>(graph);
}

}  // namespace edgewire::kernels
