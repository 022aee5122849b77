#include "frontier/betweenness_weighted.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "frontier/betweenness.h"
#include "graph/row.h"
#include "graph/vertex_names.h"

namespace edgewire::frontier {

namespace {

template <class Distance>
constexpr Distance unreached() {
  using Limits = std::numeric_limits<Distance>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

}  // namespace

void expect_positive_weights(FrontierJob& job) {
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
            "{}: edge {} -> {} has weight {}; weighted bc needs weights above 0: change it, or leave out "
            "--weighted",
            job.graph().path(), names(row.vertex),
            names(targets[static_cast<std::size_t>(wrong - weights.begin())]), *wrong));
      });
    }
  });
}

template <class Distance>
BetweennessWeighted<Distance>::BetweennessWeighted(FrontierJob& alone, bool endpoints)
    : job_(alone),
      endpoints_(endpoints),
      distances_(alone.graph().vertices(), unreached<Distance>()),
      scores_(alone.graph().vertices()) {
  graph::expect_weights(alone.graph());
  doubles_.paths.resize(scores_.size());
  doubles_.shares.resize(scores_.size());
}

template <class Distance>
std::vector<Superstep> BetweennessWeighted<Distance>::run(std::span<const VertexId> sources) {
  for (const VertexId source : sources) job_.expect_vertex(source);
  Superstep done;
  done.kind = Betweenness::kForward;
  followed_ = 0;
  for (const VertexId source : sources) {
    search(source);
    if (!scaled_.paths.empty() || !add(doubles_)) {
      scaled_.paths.resize(scores_.size());
      scaled_.shares.resize(scores_.size());
      doubles_ = {};
      add(scaled_);
    }
    if (endpoints_) {
      for (const VertexId v : order_) scores_[v] += 1;
      scores_[source] += static_cast<double>(order_.size()) - 2;
    }
    for (const VertexId v : order_) distances_[v] = unreached<Distance>();
    done.frontier += order_.size();
    order_.clear();
  }
  done.edges = followed_;
  return {done};
}

/// The distance of `target` over `v`.
template <class Distance>
template <class Weight>
Distance BetweennessWeighted<Distance>::along(VertexId v, VertexId target, Weight weight) const {
  const Distance sum = distances_[v] + static_cast<Distance>(weight);
  if (sum > distances_[v] && sum < unreached<Distance>()) return sum;
  const graph::VertexNames names(job_.graph());
  const std::string edge = fmt::format("{}: edge {} -> {}", job_.graph().path(), names(v), names(target));
  if (std::is_same_v<Distance, double> && sum == distances_[v])
    throw Error(fmt::format(
        "{}: its weight {:g} is lost in the distance {:g} to which bc adds it: the weights are too different",
        edge, static_cast<double>(weight), static_cast<double>(sum)));
  throw Error(fmt::format("{}: the distance behind it is greater than {} can be: divide the weights", edge,
                          std::is_same_v<Distance, double> ? "a double (1.8e308)" : "64 bits (1.8e19)"));
}

/// Dijkstra's algorithm; a vertex whose distance falls is queued again.
template <class Distance>
void BetweennessWeighted<Distance>::search(VertexId source) {
  distances_[source] = 0;
  queue_ = {{Distance{0}, source}};
  while (!queue_.empty()) {
    std::ranges::pop_heap(queue_, std::greater<>());
    const VertexId v = queue_.back().second;
    const bool is_new = queue_.back().first == distances_[v];  // it has not fallen since
    queue_.pop_back();
    if (!is_new) continue;
    order_.push_back(v);
    const graph::Row row{job_.graph(), v};
    const auto targets = row.targets();
    followed_ += targets.size();
    row.weights().visit([&](const auto weights) {
      for (std::size_t e = 0; e < targets.size(); ++e) {
        const Distance way = along(v, targets[e], weights[e]);
        if (way >= distances_[targets[e]]) continue;
        distances_[targets[e]] = way;
        queue_.emplace_back(way, targets[e]);
        std::ranges::push_heap(queue_, std::greater<>());
      }
    });
  }
}

/// Calls work(target) for each edge from a reached vertex with which a shortest path ends.
template <class Distance>
template <class Work>
void BetweennessWeighted<Distance>::for_each_shortest(VertexId v, const Work& work) {
  const graph::Row row{job_.graph(), v};
  const auto targets = row.targets();
  followed_ += targets.size();
  row.weights().visit([&](const auto weights) {
    for (std::size_t e = 0; e < targets.size(); ++e)
      if (distances_[v] + static_cast<Distance>(weights[e]) == distances_[targets[e]]) work(targets[e]);
  });
}

/// False, and nothing is added: there are too many paths.
template <class Distance>
template <class Number>
bool BetweennessWeighted<Distance>::add(Counts<Number>& counts) {
  const bool counted = count(counts);
  if (counted) share(counts);
  for (const VertexId v : order_) counts.paths[v] = counts.shares[v] = Number();
  return counted;
}

template <class Distance>
template <class Number>
bool BetweennessWeighted<Distance>::count(Counts<Number>& counts) {
  counts.paths[order_[0]] = Number(1);
  for (const VertexId v : order_) {
    const Number paths = counts.paths[v];
    if (is_too_many(paths)) return false;
    for_each_shortest(v, [&](VertexId target) { counts.paths[target] += paths; });
  }
  return true;
}

template <class Distance>
template <class Number>
void BetweennessWeighted<Distance>::share(Counts<Number>& counts) {
  for (auto v = order_.rbegin(); v != order_.rend(); ++v) {
    Number sum{};
    for_each_shortest(*v, [&](VertexId target) { sum += counts.shares[target]; });
    counts.shares[*v] = Number(1) / counts.paths[*v] + sum;
    if (*v != order_[0]) scores_[*v] += static_cast<double>(counts.paths[*v] * sum);
  }
}

template class BetweennessWeighted<std::uint64_t>;
template class BetweennessWeighted<double>;

}  // namespace edgewire::frontier
