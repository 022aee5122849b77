// Betweenness centrality over weighted paths: Dijkstra's order of the vertices (Numerische Mathematik 1,
// 1959), then Brandes's sums along it, as in bc.h.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "edgewire/graph.h"
#include "graph/file/vertex_names.h"
#include "kernels/bc/bc.h"
#include "kernels/scaled.h"
#include "options/kernels.h"

namespace edgewire::kernels {

namespace {

/// The weighted search. `Distance` is std::uint64_t or double.
template <class Distance, class Number>
class WeightedSearch final : public BcSearch {
 public:
  WeightedSearch(frontier::Job& alone, bool endpoints)
      : graph_(alone.graph()),
        endpoints_(endpoints),
        distances_(graph_.vertices(), kUnreached),
        sigma_(graph_.vertices()),
        shares_(graph_.vertices()) {}

  bool add(VertexId source, BcSums& sums) override {
    find_order(source);
    const bool counted = count_paths(source);
    if (counted) accumulate(source, sums.scores);
    sums.forward.resize(1);
    sums.forward[0].kind = Bc::kForward;
    sums.forward[0].frontier += counted ? order_.size() : 0;
    sums.forward[0].edges += std::exchange(followed_, 0);
    for (const VertexId v : order_) {
      distances_[v] = kUnreached;
      sigma_[v] = shares_[v] = Number();
    }
    order_.clear();
    return counted;
  }

 private:
  using Limits = std::numeric_limits<Distance>;
  static constexpr Distance kUnreached = Limits::has_infinity ? Limits::infinity() : Limits::max();

  /// Runs Dijkstra's algorithm; a vertex whose distance falls is queued again. A way whose length cannot be
  /// told matters only where no shorter one leads to its end.
  void find_order(VertexId source) {
    bool too_long = false;
    distances_[source] = 0;
    queue_ = {{Distance{0}, source}};
    while (!queue_.empty()) {
      std::ranges::pop_heap(queue_, std::greater<>());
      const auto [distance, v] = queue_.back();
      queue_.pop_back();
      if (distance != distances_[v]) continue;  // the distance has fallen since
      order_.push_back(v);
      for_each_edge(v, [&, v = v, distance = distance](VertexId target, auto weight) {
        const Distance way = distance + static_cast<Distance>(weight);
        if (way < distance || way == kUnreached) {  // a whole number has wrapped around
          too_long = true;
          return;
        }
        if (way == distance && target != v && way <= distances_[target])
          refuse_lost(v, target, static_cast<double>(weight));
        if (way >= distances_[target]) return;
        distances_[target] = way;
        queue_.emplace_back(way, target);
        std::ranges::push_heap(queue_, std::greater<>());
      });
    }
    if (too_long) expect_reached();
  }
  /// Goes forward and counts sigma. Returns false where there are too many paths.
  bool count_paths(VertexId source) {
    sigma_[source] = Number(1);
    for (const VertexId v : order_) {
      const Number paths = sigma_[v];
      if (is_too_many(paths)) return false;
      for_each_successor(v, [&](VertexId target) { sigma_[target] += paths; });
    }
    return true;
  }
  /// Goes backward and adds up shares, and from them scores.
  void accumulate(VertexId source, std::vector<double>& scores) {
    for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
      const VertexId v = *at;
      Number sum{};
      for_each_successor(v, [&](VertexId target) { sum += shares_[target]; });
      shares_[v] = Number(1) / sigma_[v] + sum;
      if (v != source) scores[v] += static_cast<double>(sigma_[v] * sum) + (endpoints_ ? 1 : 0);
    }
    if (endpoints_) scores[source] += static_cast<double>(order_.size()) - 1;
  }

  /// Calls work(target, weight) for each edge out of a vertex.
  template <class Work>
  void for_each_edge(VertexId v, const Work& work) {
    const graph::Row row{graph_, v};
    const auto targets = row.targets();
    followed_ += targets.size();
    row.weights().visit([&](const auto weights) {
      for (std::size_t e = 0; e < targets.size(); ++e) work(targets[e], weights[e]);
    });
  }
  /// Calls work(target) for each edge from a reached vertex with which a shortest path ends.
  template <class Work>
  void for_each_successor(VertexId v, const Work& work) {
    for_each_edge(v, [&](VertexId target, auto weight) {
      const Distance way = distances_[v] + static_cast<Distance>(weight);
      // A loop whose weight is lost, and a whole number that has wrapped around, end no shortest path.
      if (way == distances_[target] && way > distances_[v]) work(target);
    });
  }
  std::string name_of_edge(VertexId v, VertexId target) const {
    const graph::VertexNames names(graph_);
    return fmt::format("{}: edge {} -> {}", graph_.path(), names(v), names(target));
  }
  /// Throws Error that says that the way to a vertex is too long, where no other way reaches it.
  void expect_reached() {
    for (const VertexId v : order_)
      for_each_edge(v, [&](VertexId target, auto /*weight*/) {
        if (distances_[target] != kUnreached) return;
        throw Error(
            fmt::format("{}: the shortest path that ends with it is longer than {} can hold: divide "
                        "the weights",
                        name_of_edge(v, target),
                        std::is_same_v<Distance, double> ? "a double (1.8e308)" : "64 bits (1.8e19)"));
      });
  }
  /// Throws Error that says that the edge may end a shortest path, but does not change the distance.
  [[noreturn]] void refuse_lost(VertexId v, VertexId target, double weight) const {
    throw Error(fmt::format(
        "{}: its weight {:g} is lost in the distance {:g} to which bc adds it: the weights are too different",
        name_of_edge(v, target), weight, static_cast<double>(distances_[v])));
  }

  const Graph& graph_;
  bool endpoints_;
  std::vector<Distance> distances_;
  std::vector<VertexId> order_;                       ///< reached vertices, the nearest first
  std::vector<std::pair<Distance, VertexId>> queue_;  ///< heap, the nearest first
  std::vector<Number> sigma_;                         ///< number of paths to the vertex
  std::vector<Number> shares_;                        ///< share of each of these paths
  std::uint64_t followed_ = 0;                        ///< number of edges that it has followed
};

}  // namespace

void expect_positive_weights(frontier::Job& job) {
  graph::expect_weights(job.graph());
  job.for_each_range([&](int, LocalNumber first, LocalNumber last) {
    for (LocalNumber local = first; local < last; ++local) {
      const graph::Row row = job.owned_rows()[job.ownership().vertex(job.rank(), local)];
      row.weights().visit([&](const auto weights) {
        const auto wrong = std::ranges::find_if(weights, [](const auto weight) { return !(weight > 0); });
        if (wrong == weights.end()) return;
        const graph::VertexNames names(job.graph());
        std::vector<VertexId> room;
        const auto targets = job.ids_of(local, room);
        throw Error(fmt::format(
            "{}: edge {} -> {} has weight {}; weighted bc needs weights above 0: change it, or leave out {}",
            job.graph().path(), names(row.vertex),
            names(targets[static_cast<std::size_t>(wrong - weights.begin())]), *wrong, opt::weighted));
      });
    }
  });
}

template <class Number>
std::unique_ptr<BcSearch> weighted_search(frontier::Job& alone, bool endpoints) {
  graph::expect_weights(alone.graph());
  if (graph::is_whole(alone.graph().weights().type()))
    return std::make_unique<WeightedSearch<std::uint64_t, Number>>(alone, endpoints);
  return std::make_unique<WeightedSearch<double, Number>>(alone, endpoints);
}

template std::unique_ptr<BcSearch> weighted_search<double>(frontier::Job&, bool);
template std::unique_ptr<BcSearch> weighted_search<Scaled>(frontier::Job&, bool);

}  // namespace edgewire::kernels
