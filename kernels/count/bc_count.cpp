// Counts of bc. They share no code with the kernel but the rule that says when a level is pulled.
#include <fmt/core.h>

#include <set>

#include "edgewire/graph.h"
#include "kernels/bc/bc.h"
#include "kernels/check/plain_bfs.h"
#include "kernels/count/count.h"

namespace edgewire::kernels {

namespace {

class BcCount {
 public:
  BcCount(const Graph& graph, VertexId source) : graph_(graph), levels_(plain_breadth_first(graph, source)) {}

  std::vector<CountedStep> operator()(const partition::Ownership& ownership) const {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    const auto pulls = choose(ownership.processes());
    std::vector<CountedStep> forward, backward;
    for (std::size_t l = 0; l < levels_.count(); ++l) {
      const auto level = levels_.of(l).size();
      forward.push_back({fmt::format("level {}, paths", l + 1), level, RecordLoad(processes)});
      backward.push_back({fmt::format("level {}, shares of them", l + 1), level, RecordLoad(processes)});
    }
    Names names(graph_, ownership);  // holds the vertices whose paths were sent
    for (std::uint32_t p = 0; p < processes; ++p)
      for (std::size_t l = 0; l < levels_.count(); ++l)
        if (!pulls[l]) push(p, l, pulls, names, forward[l].load, backward[l].load);
    Names answered(graph_, ownership);  // holds the vertices whose shares were sent
    for (std::uint32_t p = 0; p < processes; ++p)
      for (std::size_t l = 0; l < levels_.count(); ++l)
        if (pulls[l]) pull(p, l, answered, forward[l].load, backward[l].load);
    for (std::size_t l = levels_.count() - 1; l-- > 1;) forward.push_back(backward[l]);
    return forward;
  }

 private:
  /// Returns, by level, whether its edges are followed from the vertices that are not reached yet.
  std::vector<bool> choose(int processes) const {
    std::vector<bool> pulls;
    std::uint64_t unseen = graph_.edges();
    for (std::size_t l = 0; l < levels_.count(); ++l) {
      unseen -= levels_.edges[l];
      pulls.push_back(graph_.symmetric() &&
                      betweenness_pulls(levels_.of(l).size(), levels_.edges[l], unseen, processes));
    }
    return pulls;
  }
  /// Counts a push. Process p sends the paths of each vertex of another process that its edges lead to, once,
  /// unless all know that vertex. On the way back, the owner answers for those that were new to it.
  void push(std::uint32_t p, std::size_t l, const std::vector<bool>& pulls, Names& names, RecordLoad& paths,
            RecordLoad& shares) const {
    for (const VertexId u : levels_.of(l)) {
      if (names.owner(u) != p) continue;
      for (const VertexId v : graph::Row{graph_, u}.targets()) {
        const std::uint32_t at = levels_.level[v];
        if (at == 0 || (at < l && pulls[at]) || !names.add(p, v)) continue;
        paths.add(p, names.owner(v));
        if (at == l + 1) shares.add(names.owner(v), p);
      }
    }
  }
  /// Counts a pull. Process p sends its part of the level to those with neighbours of its vertices: every
  /// edge is stored both ways. On the way back, it sends the share of each vertex of another process on the
  /// level that its vertices of the next level have edges with.
  void pull(std::uint32_t p, std::size_t l, Names& names, RecordLoad& paths, RecordLoad& shares) const {
    for (const VertexId u : levels_.of(l)) {
      if (names.owner(u) != p) continue;
      std::set<std::uint32_t> peers;
      for (const VertexId v : graph::Row{graph_, u}.targets()) peers.insert(names.owner(v));
      for (const std::uint32_t peer : peers)
        if (peer != p) paths.add(p, peer);
    }
    if (l + 1 == levels_.count()) return;
    for (const VertexId w : levels_.of(l + 1)) {
      if (names.owner(w) != p) continue;
      for (const VertexId v : graph::Row{graph_, w}.targets())
        if (levels_.level[v] == l && names.add(p, v)) shares.add(p, names.owner(v));
    }
  }

  const Graph& graph_;
  Levels levels_;
};

}  // namespace

FrontierCount count_betweenness(const Graph& graph, VertexId source) {
  frontier::expect_vertex(graph, source);
  return {"bc", Exactness::exact, sizeof(frontier::WideRecord), BcCount(graph, source)};
}

}  // namespace edgewire::kernels
