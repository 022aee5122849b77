// This file has the counts of cdlp, by a sequential run of the method of LDBC Graphalytics.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "edgewire/graph.h"
#include "frontier/records.h"
#include "kernels/check/plain.h"
#include "kernels/count/count.h"
#include "options/kernels.h"

namespace edgewire::kernels {

namespace {

class CdlpCount {
 public:
  CdlpCount(const Graph& graph, std::uint64_t iterations) : graph_(graph), sources_(graph) {
    std::vector<PlainId> labels(graph.vertices());
    std::iota(labels.begin(), labels.end(), PlainId{0});
    std::vector<bool> news(labels.size(), true);
    bool changed = true;
    for (std::uint32_t round = 0; changed && round < iterations; ++round) changed = vote(round, labels, news);
    std::ranges::sort(changes_);
  }

  std::vector<CountedStep> operator()(const partition::Ownership& ownership) const {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    const Names names(graph_, ownership);
    std::vector<CountedStep> steps;
    for (std::size_t round = 0; round < voters_.size(); ++round)
      steps.push_back({fmt::format("iteration {}", round + 1), voters_[round], RecordLoad(processes)});
    for (std::size_t first = 0; first < changes_.size();) {
      const VertexId v = changes_[first].first;
      std::vector<std::uint32_t> peers;
      each_neighbour(graph_, sources_, v, [&](VertexId u) { peers.push_back(names.owner(u)); });
      std::ranges::sort(peers);
      peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
      std::erase(peers, names.owner(v));
      for (; first < changes_.size() && changes_[first].first == v; ++first)
        for (const std::uint32_t peer : peers) steps[changes_[first].second].load.add(names.owner(v), peer);
    }
    return steps;
  }

 private:
  /// Votes for one round. Returns false when no label has changed.
  bool vote(std::uint32_t round, std::vector<PlainId>& labels, std::vector<bool>& news) {
    auto next = labels;
    std::uint64_t voters = 0;
    std::vector<PlainId> heard;
    for (VertexId v{}; v < labels.size(); ++v) {
      bool asked = false;
      heard.clear();
      each_neighbour(graph_, sources_, v, [&](VertexId u) {
        heard.push_back(labels[u]);
        asked = asked || news[u];
      });
      if (!asked) continue;
      ++voters;
      next[v] = most_frequent(heard);
    }
    voters_.push_back(voters);
    const std::size_t before = changes_.size();
    for (VertexId v{}; v < labels.size(); ++v) {
      news[v] = next[v] != labels[v];
      if (news[v]) changes_.emplace_back(v, round);
    }
    labels = std::move(next);
    return changes_.size() > before;
  }
  /// Returns the most frequent label, and the smallest one on a tie. `heard` is not empty.
  static PlainId most_frequent(std::vector<PlainId>& heard) {
    std::ranges::sort(heard);
    std::pair<std::size_t, PlainId> best{0, 0};
    for (auto at = heard.begin(); at != heard.end();) {
      const auto end = std::upper_bound(at, heard.end(), *at);
      const auto votes = static_cast<std::size_t>(end - at);
      if (votes > best.first) best = {votes, *at};
      at = end;
    }
    return best.second;
  }

  const Graph& graph_;
  PlainSources sources_;
  std::vector<std::uint64_t> voters_;                        ///< number of voters, [round]
  std::vector<std::pair<VertexId, std::uint32_t>> changes_;  ///< changes as (vertex, round)
};

}  // namespace

FrontierCount count_labels(const Graph& graph, std::uint64_t iterations) {
  if (iterations == 0) throw UsageError(fmt::format("{} must be at least 1", opt::iterations));
  return {"cdlp", Exactness::exact, sizeof(frontier::Record), CdlpCount(graph, iterations)};
}

}  // namespace edgewire::kernels
