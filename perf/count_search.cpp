// Counts of bfs and sssp. They share no code with the kernels but the rule that says when bfs pulls.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "frontier/breadth_first.h"
#include "graph/row.h"
#include "perf/frontier_count.h"

namespace edgewire::perf {

namespace {

constexpr std::uint32_t kVerticesAWord = 64;  // of the bits that a pull sends

/// A process sends one record for each vertex of another process that its edges lead to. In bfs it sends none
/// for the source, nor for a vertex that an earlier pull has told to all.
class SearchCount : public FrontierCount {
 public:
  SearchCount(const graph::GraphFile& graph, bool by_level, std::uint32_t source)
      : graph_(graph), by_level_(by_level), levels_(find_levels(graph, source)) {
    frontier::SearchState state;
    state.unseen_edges = graph.edges();
    for (std::size_t l = 0; l < levels_.count(); ++l) {
      state.advance(levels_.of(l).size(), levels_.edges[l]);
      state.pulled = by_level && frontier::wants_pull(graph, state);
      pulls_.push_back(state.pulled);
    }
  }
  Exactness exactness(int) const override { return by_level_ ? Exactness::exact : Exactness::at_least; }
  /// Distances are those of --precision auto or f64.
  std::uint64_t record_bytes() const override {
    return by_level_ ? sizeof(frontier::Record) : sizeof(frontier::WideRecord);
  }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    const auto owners = owners_of(graph_, ownership);
    std::vector<CountedStep> steps;
    for (std::size_t l = 0; l < levels_.count(); ++l)
      steps.push_back({fmt::format("level {}, {}", l + 1, pulls_[l] ? "pull" : "push"), levels_.of(l).size(),
                       RecordLoad(processes)});
    std::vector<std::uint32_t> namer(owners.size(), Levels::kUnreached);  // [vertex]: the last process
    for (std::uint32_t p = 0; p < processes; ++p)
      for (const std::uint32_t u : levels_.reached)
        if (owners[u] == p) name_targets(u, owners, namer, steps[levels_.level[u]].load);
    for (std::size_t l = 0; l < steps.size(); ++l)
      if (pulls_[l]) share_frontier(ownership, steps[l].load);
    return by_level_ ? steps : sum(steps, processes);
  }

 private:
  void name_targets(std::uint32_t u, const std::vector<std::uint32_t>& owners,
                    std::vector<std::uint32_t>& namer, RecordLoad& load) const {
    const std::uint32_t level = levels_.level[u], process = owners[u];
    if (pulls_[level]) return;
    for (const std::uint32_t v : graph::Row{graph_, u}.targets()) {
      if (owners[v] == process || namer[v] == process) continue;
      if (by_level_ && is_known(v, level)) continue;
      namer[v] = process;
      load.add(process, owners[v]);
    }
  }
  /// All know the source, and what a pull has told them.
  bool is_known(std::uint32_t v, std::uint32_t level) const {
    const std::uint32_t at = levels_.level[v];
    return at == 0 || (at < level && pulls_[at]);
  }
  static void share_frontier(const plan::Ownership& ownership, RecordLoad& load) {
    const std::size_t processes = load.sent.size();
    std::vector<std::uint64_t> words;
    for (std::uint32_t p = 0; p < processes; ++p)
      words.push_back((ownership.count(p) + std::uint64_t{kVerticesAWord} - 1) / kVerticesAWord);
    const std::uint64_t all = std::accumulate(words.begin(), words.end(), std::uint64_t{0});
    for (std::size_t p = 0; p < processes; ++p) {
      load.sent[p] += words[p] * (processes - 1);
      load.received[p] += all - words[p];
    }
  }
  /// However sssp orders its work, a process names each vertex of another one that its reached vertices lead
  /// to.
  std::vector<CountedStep> sum(const std::vector<CountedStep>& steps, std::size_t processes) const {
    CountedStep whole{"all distances", levels_.reached.size(), RecordLoad(processes)};
    for (const CountedStep& step : steps) {
      std::ranges::transform(step.load.sent, whole.load.sent, whole.load.sent.begin(), std::plus());
      std::ranges::transform(step.load.received, whole.load.received, whole.load.received.begin(),
                             std::plus());
    }
    return {whole};
  }

  const graph::GraphFile& graph_;
  bool by_level_;
  Levels levels_;
  std::vector<bool> pulls_;  ///< [level]: whether the superstep pulls that follows its edges
};

}  // namespace

Levels find_levels(const graph::GraphFile& graph, std::uint32_t source) {
  Levels found;
  found.level.assign(graph.vertices(), Levels::kUnreached);
  found.level[source] = 0;
  found.reached = {source};
  for (std::size_t first = 0; first < found.reached.size();) {
    const std::size_t last = found.reached.size();
    const auto level = static_cast<std::uint32_t>(found.ends.size());
    std::uint64_t edges = 0;
    for (std::size_t i = first; i < last; ++i) {
      const auto targets = graph::Row{graph, found.reached[i]}.targets();
      edges += targets.size();
      for (const std::uint32_t v : targets) {
        if (found.level[v] != Levels::kUnreached) continue;
        found.level[v] = level + 1;
        found.reached.push_back(v);
      }
    }
    found.edges.push_back(edges);
    found.ends.push_back(last);
    first = last;
  }
  return found;
}

std::vector<std::uint32_t> owners_of(const graph::GraphFile& graph, const plan::Ownership& ownership) {
  std::vector<std::uint32_t> owners(graph.vertices());
  for (std::uint32_t v = 0; v < owners.size(); ++v) owners[v] = ownership.place(v).owner;
  return owners;
}

std::unique_ptr<FrontierCount> count_search(const graph::GraphFile& graph, bool by_level,
                                            std::uint32_t source) {
  check_source(graph, source);
  return std::make_unique<SearchCount>(graph, by_level, source);
}

}  // namespace edgewire::perf
