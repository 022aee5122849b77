// Counts of scc. They share no code with the kernel but the choice of the vertex that it searches from.
#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>

#include "frontier/giant_component.h"
#include "frontier/strong_components.h"
#include "graph/row.h"
#include "perf/frontier_count.h"

namespace edgewire::perf {

namespace {

using frontier::GiantComponent;

/// Where the edges are few, each process sends all others the edges of its vertices that have an edge in and
/// an edge out, loops not counted.
class FewEdgesCount : public FrontierCount {
 public:
  explicit FewEdgesCount(const graph::GraphFile& graph) : graph_(graph) {
    std::vector<bool> has_in(graph.vertices());
    std::vector<std::uint64_t> out(graph.vertices());
    for (std::uint32_t u = 0; u < graph.vertices(); ++u) {
      for (const std::uint32_t v : graph::Row{graph_, u}.targets()) {
        if (u == v) continue;
        has_in[v] = true;
        ++out[u];
      }
    }
    for (std::uint32_t u = 0; u < graph.vertices(); ++u)
      if (has_in[u] && out[u] > 0) left_.emplace_back(u, out[u]);
  }
  Exactness exactness(int) const override { return Exactness::exact; }
  std::uint64_t record_bytes() const override { return sizeof(frontier::Record); }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    const auto processes = static_cast<std::size_t>(ownership.processes());
    std::vector<CountedStep> steps{{"keep the edges that are left, both ways", 0, RecordLoad(processes)}};
    if (left_.empty()) return steps;
    CountedStep collect{"collect the edges that are left", left_.size(), RecordLoad(processes)};
    for (const auto& [u, edges] : left_) {
      const std::uint32_t owner = ownership.place(u).owner;
      for (std::uint32_t peer = 0; peer < processes; ++peer) {
        if (peer == owner) continue;
        collect.load.sent[owner] += edges;
        collect.load.received[peer] += edges;
      }
    }
    steps.push_back(std::move(collect));
    return steps;
  }

 private:
  const graph::GraphFile& graph_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> left_;  ///< (vertex, its edges that are sent)
};

/// What is certain where there are more: the search forward from one vertex, and the fewest rounds that join
/// what leads back to it. In a round each process tells all others, a bit for each of its vertices, which of
/// them have joined. What is trimmed, coloured or collected after that depends on how many rounds paid.
class ManyEdgesCount : public FrontierCount {
 public:
  explicit ManyEdgesCount(const graph::GraphFile& graph) : graph_(graph), ends_(graph.vertices() + 1) {
    for (const std::uint32_t v : graph.targets()) ++ends_[v];
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    sources_.resize(graph.edges());
    for (std::uint32_t u = 0; u < graph.vertices(); ++u)
      for (const std::uint32_t v : graph::Row{graph, u}.targets()) sources_[--ends_[v]] = u;
  }
  Exactness exactness(int) const override { return Exactness::at_least; }
  std::uint64_t record_bytes() const override { return sizeof(frontier::Record); }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    CountedStep whole{"all components", graph_.vertices(),
                      RecordLoad(static_cast<std::size_t>(ownership.processes()))};
    const auto pivot = pivot_of(ownership);
    if (!pivot) return {whole};
    const auto levels = count_breadth_first(graph_, *pivot)->count(ownership);
    const std::size_t followed = surely_followed(levels);
    for (std::size_t l = 0; l < followed; ++l) add(levels[l].load, 1, whole.load);
    const std::uint64_t rounds = followed < levels.size() ? 1 : fewest_rounds(ownership, *pivot);
    add(bits_of_all(ownership), rounds, whole.load);
    return {whole};
  }

 private:
  std::optional<std::uint32_t> pivot_of(const plan::Ownership& ownership) const {
    GiantComponent::Candidate best;
    for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(ownership.processes()); ++p) {
      const auto one = GiantComponent::candidate(graph_, ownership, p);
      if (one.product > best.product) best = one;
    }
    if (best.product == 0) return {};
    return static_cast<std::uint32_t>(best.vertex);
  }
  /// Levels before the kernel gives up a long path: what it has reached then is not counted here.
  static std::size_t surely_followed(const std::vector<CountedStep>& levels) {
    std::uint64_t thin = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      thin = levels[l].frontier < GiantComponent::kThin ? thin + 1 : 0;
      if (thin >= GiantComponent::kThinLevels) return l;
    }
    return levels.size();
  }
  /// A process can follow an edge to a vertex of its own in the round in which that one joins, to others in
  /// the next round. Nothing joins earlier than so.
  std::uint64_t fewest_rounds(const plan::Ownership& ownership, std::uint32_t pivot) const {
    std::vector<std::uint32_t> owners(graph_.vertices());
    for (std::uint32_t v = 0; v < owners.size(); ++v) owners[v] = ownership.place(v).owner;
    const std::vector<bool> reached = reached_from(pivot);
    std::vector<std::uint32_t> rounds(graph_.vertices(), UINT32_MAX);
    std::deque<std::uint32_t> next{pivot};
    rounds[pivot] = 0;
    while (!next.empty()) {
      const std::uint32_t v = next.front();
      next.pop_front();
      for (std::uint64_t e = ends_[v]; e < ends_[v + std::size_t{1}]; ++e) {
        const std::uint32_t u = sources_[e];
        const bool later = owners[u] != owners[v] || v == pivot;
        const std::uint32_t round = rounds[v] + (later ? 1 : 0);
        if (!reached[u] || rounds[u] <= round) continue;
        rounds[u] = round;
        if (later)
          next.push_back(u);
        else
          next.push_front(u);
      }
    }
    std::uint64_t last = 0, joined = 0, could = 0;
    for (std::uint32_t v = 0; v < rounds.size(); ++v) {
      if (reached[v] && graph::Row{graph_, v}.degree() > 0) ++could;
      if (rounds[v] == UINT32_MAX) continue;
      ++joined;
      last = std::max<std::uint64_t>(last, rounds[v]);
    }
    // Where others are left, a round in which none of them joins ends the search.
    const std::uint64_t needed = joined == could ? std::max<std::uint64_t>(last, 1) : last + 1;
    return std::min(needed, GiantComponent::kFirstRounds);
  }
  std::vector<bool> reached_from(std::uint32_t pivot) const {
    std::vector<bool> reached(graph_.vertices());
    std::vector<std::uint32_t> stack{pivot};
    reached[pivot] = true;
    while (!stack.empty()) {
      const std::uint32_t u = stack.back();
      stack.pop_back();
      for (const std::uint32_t v : graph::Row{graph_, u}.targets()) {
        if (reached[v]) continue;
        reached[v] = true;
        stack.push_back(v);
      }
    }
    return reached;
  }
  /// What a round sends.
  static RecordLoad bits_of_all(const plan::Ownership& ownership) {
    constexpr std::uint64_t kVerticesAWord = 64;
    const auto processes = static_cast<std::uint32_t>(ownership.processes());
    RecordLoad load(processes);
    for (std::uint32_t p = 0; p < processes; ++p) {
      const std::uint64_t words = (ownership.count(p) + kVerticesAWord - 1) / kVerticesAWord;
      load.sent[p] += words * (processes - 1);
      for (std::uint32_t peer = 0; peer < processes; ++peer)
        if (peer != p) load.received[peer] += words;
    }
    return load;
  }
  static void add(const RecordLoad& some, std::uint64_t times, RecordLoad& all) {
    for (std::size_t p = 0; p < all.sent.size(); ++p) {
      all.sent[p] += times * some.sent[p];
      all.received[p] += times * some.received[p];
    }
  }

  const graph::GraphFile& graph_;
  std::vector<std::uint64_t> ends_;     ///< [vertex]: where its in-edges begin
  std::vector<std::uint32_t> sources_;  ///< of in-edges, by target
};

}  // namespace

std::unique_ptr<FrontierCount> count_strong_components(const graph::GraphFile& graph) {
  if (graph.symmetric()) return count_components(graph);
  if (graph.edges() > frontier::StrongComponents::kCollected) return std::make_unique<ManyEdgesCount>(graph);
  return std::make_unique<FewEdgesCount>(graph);
}

}  // namespace edgewire::perf
