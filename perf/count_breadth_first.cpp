// Counts of bfs and sssp. They share no code with the kernels but the rule that says when bfs pulls.
#include <fmt/core.h>

#include "frontier/breadth_first.h"
#include "graph/row.h"
#include "kernels/plain_breadth_first.h"
#include "perf/frontier_count.h"

namespace edgewire::perf {

namespace {

using kernels::Levels;

/// A process sends one record for each vertex of another process that its edges lead to; none for the source,
/// nor for a vertex that an earlier pull has told to all.
class BreadthFirstCount : public FrontierCount {
 public:
  BreadthFirstCount(const graph::GraphFile& graph, VertexId source)
      : graph_(graph), levels_(kernels::plain_breadth_first(graph, source)) {
    frontier::BreadthFirst::State state;
    state.unseen_edges = graph.edges();
    for (std::size_t l = 0; l < levels_.count(); ++l) {
      state.advance(levels_.of(l).size(), levels_.edges[l]);
      state.pulled = frontier::BreadthFirst::wants_pull(graph, state);
      pulls_.push_back(state.pulled);
    }
  }
  Exactness exactness(int) const override { return Exactness::exact; }
  std::uint64_t record_bytes() const override { return sizeof(frontier::Record); }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    std::vector<CountedStep> steps;
    for (std::size_t l = 0; l < levels_.count(); ++l)
      steps.push_back({fmt::format("level {}, {}", l + 1, pulls_[l] ? "pull" : "push"), levels_.of(l).size(),
                       RecordLoad(processes)});
    Names names(graph_, ownership);
    for (std::uint32_t p = 0; p < processes; ++p)
      for (const VertexId u : levels_.reached)
        if (names.owner(u) == p) name_targets(u, names, steps[levels_.level[u]].load);
    for (std::size_t l = 0; l < steps.size(); ++l)
      if (pulls_[l]) steps[l].load.add_bits_of_all(ownership);
    return steps;
  }

 private:
  void name_targets(VertexId u, Names& names, RecordLoad& load) const {
    const std::uint32_t level = levels_.level[u], process = names.owner(u);
    if (pulls_[level]) return;
    for (const VertexId v : graph::Row{graph_, u}.targets())
      if (!is_known(v, level) && names.add(process, v)) load.add(process, names.owner(v));
  }
  /// All know the source, and what a pull has told them.
  bool is_known(VertexId v, std::uint32_t level) const {
    const std::uint32_t at = levels_.level[v];
    return at == 0 || (at < level && pulls_[at]);
  }

  const graph::GraphFile& graph_;
  Levels levels_;
  std::vector<bool> pulls_;  ///< [level]: whether the superstep pulls that follows its edges
};

/// However sssp orders its work, a process names each vertex of another one that its reached vertices lead
/// to.
class ShortestPathsCount : public FrontierCount {
 public:
  ShortestPathsCount(const graph::GraphFile& graph, VertexId source)
      : graph_(graph), reached_(kernels::plain_breadth_first(graph, source).reached) {}
  Exactness exactness(int) const override { return Exactness::at_least; }
  /// Distances are those of --precision auto or f64.
  std::uint64_t record_bytes() const override { return sizeof(frontier::WideRecord); }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    const auto processes = static_cast<std::uint32_t>(ownership.processes());
    CountedStep whole{"all distances", reached_.size(), RecordLoad(processes)};
    Names names(graph_, ownership);
    for (std::uint32_t p = 0; p < processes; ++p) {
      for (const VertexId u : reached_) {
        if (names.owner(u) != p) continue;
        for (const VertexId v : graph::Row{graph_, u}.targets())
          if (names.add(p, v)) whole.load.add(p, names.owner(v));
      }
    }
    return {whole};
  }

 private:
  const graph::GraphFile& graph_;
  std::vector<VertexId> reached_;
};

}  // namespace

std::unique_ptr<FrontierCount> count_breadth_first(const graph::GraphFile& graph, VertexId source) {
  check_source(graph, source);
  return std::make_unique<BreadthFirstCount>(graph, source);
}

std::unique_ptr<FrontierCount> count_shortest_paths(const graph::GraphFile& graph, VertexId source) {
  check_source(graph, source);
  return std::make_unique<ShortestPathsCount>(graph, source);
}

}  // namespace edgewire::perf
