#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/check/check.h"
#include "kernels/check/plain.h"

namespace edgewire::kernels {

namespace {

__extension__ using Uint128 = unsigned __int128;  // holds sums of any whole weights

/// Searches as Brandes wrote it down: with a queue, lists of predecessors, and the queue backward. Distance:
/// std::uint64_t, Uint128 where edges have whole weights, double where they have others.
template <class Distance>
class PlainBetweenness {
 public:
  PlainBetweenness(const Graph& graph, const BcRules& rules)
      : graph_(graph),
        rules_(rules),
        scores_(graph.vertices()),
        paths_(graph.vertices()),
        dependency_(graph.vertices()),
        predecessors_(graph.vertices()) {}

  void add(VertexId source) {
    distance_.assign(graph_.vertices(), kNone);
    search(source);
    find_predecessors();
    const bool logarithms = !count();
    if (logarithms) count_by_logarithms();
    for (auto w = queue_.rbegin(); w != queue_.rend(); ++w) {
      for (const VertexId v : predecessors_[*w]) {
        const long double share = logarithms ? std::exp(paths_[v] - paths_[*w]) : paths_[v] / paths_[*w];
        dependency_[v] += share * (1 + dependency_[*w]);
      }
      if (*w != source) scores_[*w] += dependency_[*w] + (rules_.endpoints ? 1 : 0);
    }
    if (rules_.endpoints) scores_[source] += static_cast<long double>(queue_.size() - 1);
  }
  /// Returns the scores of all vertices.
  std::vector<double> scores(std::span<const VertexId> sources) const {
    std::vector<bool> is_source(scores_.size());
    for (const VertexId source : sources) is_source[source] = true;
    std::vector<double> found;
    for (std::size_t v = 0; v < scores_.size(); ++v)
      found.push_back(static_cast<double>(scores_[v] / pairs(is_source[v])));
    return found;
  }

 private:
  static constexpr Distance kNone = static_cast<Distance>(-1);

  /// Returns the pairs of a source and a target that a vertex could be between.
  long double pairs(bool of_source) const {
    const auto all = static_cast<long double>(scores_.size());
    if (!rules_.normalized || all < (rules_.endpoints ? 2 : 3)) return 1;
    const auto drawn = static_cast<long double>(rules_.samples);
    if (rules_.endpoints) return (drawn > 0 ? drawn : all) * (all - 1);
    return (drawn == 0 ? all - 1 : of_source ? drawn - 1 : drawn) * (all - 2);
  }

  /// Puts the vertices that are reached into the queue, the nearest first.
  void search(VertexId source) {
    if (rules_.weighted) {
      auto found = plain_dijkstra<Distance>(graph_, source, false);
      queue_ = std::move(found.reached);
      for (const VertexId v : queue_) distance_[v] = found.sums[v];
    } else {
      Levels levels = plain_breadth_first(graph_, source);
      queue_ = std::move(levels.reached);
      for (const VertexId v : queue_) distance_[v] = levels.level[v];
    }
  }
  void find_predecessors() {
    for (auto& list : predecessors_) list.clear();
    for (const VertexId v : queue_)
      each_edge(graph_, v, !rules_.weighted, [&](VertexId w, auto weight) {
        // A weight that changes nothing is that of a loop, or of an edge that no shortest path has.
        if (distance_[v] + static_cast<Distance>(weight) == distance_[w] && distance_[v] < distance_[w])
          predecessors_[w].push_back(v);
      });
  }

  /// Counts the paths to each vertex. Returns false where they are too many for a long double.
  bool count() {
    std::ranges::fill(paths_, 0);
    std::ranges::fill(dependency_, 0);
    paths_[queue_[0]] = 1;
    for (const VertexId w : queue_) {
      for (const VertexId v : predecessors_[w]) paths_[w] += paths_[v];
      if (std::isinf(paths_[w])) return false;
    }
    return true;
  }
  /// Counts their logarithms: rounding changes a number of paths by 1e-19 of its value times its logarithm.
  void count_by_logarithms() {
    paths_[queue_[0]] = 0;
    for (const VertexId w : std::span(queue_).subspan(1)) {
      long double most = 0, sum = 0;
      for (const VertexId v : predecessors_[w]) most = std::max(most, paths_[v]);
      for (const VertexId v : predecessors_[w]) sum += std::exp(paths_[v] - most);
      paths_[w] = most + std::log(sum);
    }
  }

  const Graph& graph_;
  const BcRules& rules_;
  std::vector<long double> scores_;
  std::vector<Distance> distance_;
  std::vector<long double> paths_, dependency_;
  std::vector<std::vector<VertexId>> predecessors_;
  std::vector<VertexId> queue_;
};

template <class Distance>
std::vector<double> right_scores(const Graph& graph, std::span<const VertexId> sources,
                                 const BcRules& rules) {
  PlainBetweenness<Distance> plain(graph, rules);
  for (const VertexId source : sources) plain.add(source);
  return plain.scores(sources);
}

}  // namespace

std::string check_bc(const Graph& graph, std::span<const VertexId> sources, std::span<const double> scores,
                     const BcRules& rules) {
  graph.verify_rows(0, graph.vertices());
  const auto all = !rules.weighted ? right_scores<std::uint64_t>(graph, sources, rules)
                   : graph::is_whole(graph.weights().type()) ? right_scores<Uint128>(graph, sources, rules)
                                                             : right_scores<double>(graph, sources, rules);
  for (VertexId v{}; v < graph.vertices(); ++v) {
    const double right = all[v];
    // A score next to 0 may have been rounded to it.
    if (std::fabs(scores[v] - right) <= kScoreTolerance * right + std::numeric_limits<double>::min())
      continue;
    return fmt::format("{} has the score {:.15g}, but a sequential search gives {:.15g}",
                       vertex_name(graph, v), scores[v], right);
  }
  return {};
}

}  // namespace edgewire::kernels
