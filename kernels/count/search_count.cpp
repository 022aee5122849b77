// Counts of bfs, sssp and bc. They share no code with the kernels but the rules that say when these pull.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "edgewire/graph.h"
#include "kernels/bc/bc.h"
#include "kernels/bfs/bfs.h"
#include "kernels/check/plain.h"
#include "kernels/count/count.h"

namespace edgewire::kernels {

namespace {

/// The count of bfs. A process sends one record for each vertex of another process that its edges lead to;
/// none for the source, nor for a vertex that an earlier pull has told it.
class BfsCount {
 public:
  BfsCount(const Graph& graph, VertexId source, bool on_disks)
      : graph_(graph), on_disks_(on_disks), levels_(plain_breadth_first(graph, source)) {}

  std::vector<CountedStep> operator()(const partition::Ownership& ownership) const {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    const auto pulls = choose(processes > 1);
    std::vector<CountedStep> steps;
    for (std::size_t l = 0; l < levels_.count(); ++l)
      steps.push_back({fmt::format("level {}, {}", l + 1, pulls[l] ? "pull" : "push"), levels_.of(l).size(),
                       RecordLoad(processes)});
    Names names(graph_, ownership);
    for (std::uint32_t p = 0; p < processes; ++p)
      for (const VertexId u : levels_.reached)
        if (names.owner(u) == p) name_targets(u, pulls, names, steps[levels_.level[u]].load);
    if (std::ranges::find(pulls, true) == pulls.end()) return steps;
    const RecordLoad bits = bits_of_known(graph_, ownership);
    for (std::size_t l = 0; l < steps.size(); ++l)
      if (pulls[l]) steps[l].load = bits;
    return steps;
  }

 private:
  /// Returns for each level whether the superstep that follows its edges pulls. After a level with few edges,
  /// several processes push, and do not count what they have reached.
  std::vector<bool> choose(bool several) const {
    std::vector<bool> pulls;
    Bfs::State state;
    state.unseen_edges = graph_.edges();
    bool counted = true;
    for (std::size_t l = 0; l < levels_.count(); ++l) {
      state.advance({levels_.of(l).size(), levels_.edges[l]});
      state.pulled = counted && Bfs::wants_pull(graph_, state, on_disks_);
      pulls.push_back(state.pulled);
      counted = !several || state.pulled || !Bfs::goes_on(graph_, state);
    }
    return pulls;
  }
  void name_targets(VertexId u, const std::vector<bool>& pulls, Names& names, RecordLoad& load) const {
    const std::uint32_t level = levels_.level[u], process = names.owner(u);
    if (pulls[level]) return;
    const auto is_known = [&](VertexId v) {  // known by all: the source, and vertices that a pull has told
      const std::uint32_t at = levels_.level[v];
      return at == 0 || (at < level && pulls[at]);
    };
    for (const VertexId v : graph::Row{graph_, u}.targets())
      if (!is_known(v) && names.add(process, v)) load.add(process, names.owner(v));
  }

  const Graph& graph_;
  bool on_disks_;
  Levels levels_;
};

/// Counts sssp. In any order, a process names each vertex of others that its reached vertices lead to.
std::vector<CountedStep> count_reached(const Graph& graph, std::span<const VertexId> reached,
                                       const partition::Ownership& ownership) {
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  CountedStep whole{"all distances", reached.size(), RecordLoad(processes)};
  Names names(graph, ownership);
  for (std::uint32_t p = 0; p < processes; ++p) {
    for (const VertexId u : reached) {
      if (names.owner(u) != p) continue;
      for (const VertexId v : graph::Row{graph, u}.targets())
        if (names.add(p, v)) whole.load.add(p, names.owner(v));
    }
  }
  return {whole};
}

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

RecordLoad bits_of_known(const Graph& graph, const partition::Ownership& ownership) {
  constexpr std::uint64_t kVerticesARecord = 64;
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  RecordLoad bits(processes);
  Names names(graph, ownership);
  for (std::uint32_t p = 0; p < processes; ++p) {
    std::vector<std::uint64_t> known(processes);  // number of known vertices, [owner]
    for (LocalNumber local{}; local < ownership.count(p); ++local)
      for (const VertexId v : graph::Row{graph, ownership.vertex(p, local)}.targets())
        if (names.add(p, v)) ++known[names.owner(v)];
    for (std::uint32_t owner = 0; owner < processes; ++owner)
      bits.add(owner, p, (known[owner] + kVerticesARecord - 1) / kVerticesARecord);
  }
  return bits;
}

FrontierCount count_breadth_first(const Graph& graph, VertexId source, bool on_disks) {
  frontier::expect_vertex(graph, source);
  return {"bfs", Exactness::exact, sizeof(frontier::Record), BfsCount(graph, source, on_disks)};
}

FrontierCount count_shortest_paths(const Graph& graph, VertexId source, std::size_t distance_bytes) {
  frontier::expect_vertex(graph, source);
  return {"sssp", Exactness::at_least, sizeof(LocalNumber) + distance_bytes,
          [&graph, reached = plain_breadth_first(graph, source).reached](const auto& ownership) {
            return count_reached(graph, reached, ownership);
          }};
}

FrontierCount count_betweenness(const Graph& graph, VertexId source) {
  frontier::expect_vertex(graph, source);
  return {"bc", Exactness::exact, frontier::kWideRecordBytes, BcCount(graph, source)};
}

}  // namespace edgewire::kernels
