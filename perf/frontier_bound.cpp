#include "perf/frontier_bound.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "frontier/breadth_first.h"
#include "graph/row.h"
#include "plan/ownership.h"

namespace edgewire::perf {

namespace {

constexpr std::uint32_t kUnreached = 0xffffffff;
constexpr std::uint64_t kRecordBytes = sizeof(frontier::Record);
constexpr std::uint32_t kVerticesAWord = 64;  // of the bits that a pull sends

/// A sequential search by levels.
struct Search {
  std::vector<std::uint32_t> levels;   ///< [vertex]
  std::vector<std::uint32_t> reached;  ///< vertices in the order of their levels
  std::vector<std::size_t> ends;       ///< [level]: of its vertices in `reached`
  std::vector<bool> pulls;             ///< [level]: whether the superstep pulls that follows its edges
};

Search search(const graph::GraphFile& graph, std::uint32_t source) {
  Search found;
  found.levels.assign(graph.vertices(), kUnreached);
  found.levels[source] = 0;
  found.reached = {source};
  frontier::SearchState state;
  state.unseen_edges = graph.edges();
  for (std::size_t first = 0; first < found.reached.size();) {
    const std::size_t last = found.reached.size();
    const auto level = static_cast<std::uint32_t>(found.ends.size());
    std::uint64_t edges = 0;
    for (std::size_t i = first; i < last; ++i) {
      const auto targets = graph::Row{graph, found.reached[i]}.targets();
      edges += targets.size();
      for (const std::uint32_t v : targets) {
        if (found.levels[v] != kUnreached) continue;
        found.levels[v] = level + 1;
        found.reached.push_back(v);
      }
    }
    state.advance(last - first, edges);
    state.pulled = frontier::wants_pull(graph, state);
    found.pulls.push_back(state.pulled);
    found.ends.push_back(last);
    first = last;
  }
  return found;
}

/// Records that each process sends and gets in a superstep.
struct Load {
  std::vector<std::uint64_t> sent, received;
  explicit Load(std::size_t processes) : sent(processes), received(processes) {}
};

/// Vertices by owner, and for each owner in the order of the search.
class Parts {
 public:
  Parts(const Search& found, const std::vector<std::uint32_t>& owners, std::size_t processes)
      : begins_(processes + 1), vertices_(found.reached.size()) {
    for (const std::uint32_t v : found.reached) ++begins_[owners[v] + std::size_t{1}];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    auto next = begins_;
    for (const std::uint32_t v : found.reached) vertices_[next[owners[v]]++] = v;
  }
  std::span<const std::uint32_t> of(std::size_t process) const {
    return std::span(vertices_).subspan(begins_[process], begins_[process + 1] - begins_[process]);
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> vertices_;
};

/// Counts the records that all processes send. A process sends one record for each vertex of another process
/// that its edges lead to. In bfs (`by_level`) it sends none for the source, nor for a vertex that an earlier
/// pull has told to all.
class Count {
 public:
  Count(const graph::GraphFile& graph, const Search& found, const plan::Ownership& ownership, int processes,
        bool by_level)
      : graph_(graph),
        found_(found),
        by_level_(by_level),
        processes_(static_cast<std::size_t>(processes)),
        owners_(graph.vertices()),
        namer_(graph.vertices(), kUnreached) {
    for (std::uint32_t v = 0; v < owners_.size(); ++v) owners_[v] = ownership.place(v).owner;
    for (std::uint32_t p = 0; p < processes_; ++p)
      words_.push_back((ownership.count(p) + std::uint64_t{kVerticesAWord} - 1) / kVerticesAWord);
  }

  /// [superstep]
  std::vector<Load> run() {
    std::vector<Load> loads(found_.ends.size(), Load(processes_));
    const Parts parts(found_, owners_, processes_);
    for (std::size_t p = 0; p < processes_; ++p)
      for (const std::uint32_t u : parts.of(p)) name_targets(p, u, loads[found_.levels[u]]);
    for (std::size_t level = 0; level < loads.size(); ++level)
      if (by_level_ && found_.pulls[level]) share_frontier(loads[level]);
    return loads;
  }

 private:
  void name_targets(std::size_t process, std::uint32_t u, Load& load) {
    const std::uint32_t level = found_.levels[u];
    if (by_level_ && found_.pulls[level]) return;
    for (const std::uint32_t v : graph::Row{graph_, u}.targets()) {
      if (owners_[v] == process || namer_[v] == process) continue;
      if (by_level_ && is_known(v, level)) continue;
      namer_[v] = static_cast<std::uint32_t>(process);
      ++load.sent[process];
      ++load.received[owners_[v]];
    }
  }
  /// All know the source, and what a pull has told them.
  bool is_known(std::uint32_t v, std::uint32_t level) const {
    const std::uint32_t at = found_.levels[v];
    return at == 0 || (at < level && found_.pulls[at]);
  }
  void share_frontier(Load& load) const {
    const std::uint64_t all = std::accumulate(words_.begin(), words_.end(), std::uint64_t{0});
    for (std::size_t p = 0; p < processes_; ++p) {
      load.sent[p] += words_[p] * (processes_ - 1);
      load.received[p] += all - words_[p];
    }
  }

  const graph::GraphFile& graph_;
  const Search& found_;
  bool by_level_;
  std::size_t processes_;
  std::vector<std::uint32_t> owners_;  ///< [vertex]
  std::vector<std::uint32_t> namer_;   ///< [vertex]: the last process that has named it
  std::vector<std::uint64_t> words_;   ///< [process]: of its frontier's bits
};

FrontierBound::Superstep superstep(std::string phase, std::uint64_t frontier, const Load& load) {
  FrontierBound::Superstep step{std::move(phase), frontier, 0, 0};
  for (std::size_t p = 0; p < load.sent.size(); ++p) {
    step.record_bytes += load.sent[p] * kRecordBytes;
    step.record_bytes_max =
        std::max({step.record_bytes_max, load.sent[p] * kRecordBytes, load.received[p] * kRecordBytes});
  }
  return step;
}

void add_supersteps(FrontierBound& bound, const Search& found, const std::vector<Load>& loads) {
  std::size_t first = 0;
  for (std::size_t level = 0; level < loads.size(); ++level) {
    const std::size_t last = found.ends[level];
    bound.supersteps.push_back(
        superstep(fmt::format("level {}, {}", level + 1, found.pulls[level] ? "pull" : "push"), last - first,
                  loads[level]));
    first = last;
  }
}

/// However sssp orders its work, a process names each vertex of another one that its reached vertices lead
/// to.
void add_whole(FrontierBound& bound, const Search& found, const std::vector<Load>& loads) {
  Load sum(loads.front().sent.size());
  for (const Load& load : loads) {
    std::ranges::transform(load.sent, sum.sent, sum.sent.begin(), std::plus());
    std::ranges::transform(load.received, sum.received, sum.received.begin(), std::plus());
  }
  bound.supersteps.push_back(superstep("all distances", found.reached.size(), sum));
}

}  // namespace

std::vector<FrontierBound> frontier_bound(const graph::GraphFile& graph, const std::string& kernel,
                                          std::uint32_t source, const BoundOptions& options,
                                          const BoundProgress& progress) {
  const Search found = search(graph, source);
  const bool by_level = kernel == "bfs";
  std::vector<FrontierBound> bounds;
  for (const int processes : options.processes) {
    for (const auto& how : options.ownerships) {
      const auto ownership =
          plan::Ownership::create(partition_path(how, processes), graph.offsets(), processes);
      const auto loads = Count(graph, found, ownership, processes, by_level).run();
      auto& bound = bounds.emplace_back();
      bound.processes = processes;
      bound.ownership = how;
      bound.exactness = by_level ? Exactness::exact : Exactness::at_least;
      if (by_level)
        add_supersteps(bound, found, loads);
      else
        add_whole(bound, found, loads);
      bound.seconds_at.resize(options.rates.size());
      for (const auto& step : bound.supersteps) {
        bound.record_bytes += step.record_bytes;
        const auto wire = plan::wire_bytes(plan::kFramings[options.framing], step.record_bytes_max);
        for (std::size_t r = 0; r < options.rates.size(); ++r)
          bound.seconds_at[r] += plan::seconds_at(wire, options.rates[r].second);
      }
      if (progress) progress(bounds.size());
    }
  }
  return bounds;
}

}  // namespace edgewire::perf
