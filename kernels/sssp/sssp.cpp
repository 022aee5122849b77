#include "kernels/sssp/sssp.h"

#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <utility>

#include "edgewire/graph.h"
#include "graph/file/vertex_names.h"
#include "launch/packing.h"
#include "options/kernels.h"

namespace edgewire::kernels {

namespace {

/// Returns the sum of the weights of this process's edges. Throws Error when one is negative.
double weight_sum(frontier::Job& job) {
  std::vector<double> sums(static_cast<std::size_t>((job.owned() >> 14) + 1));  // sums of ranges, so that the
  job.for_each_range([&](int, LocalNumber first, LocalNumber last) {            // order of adding is given
    double sum = 0;
    for (LocalNumber local = first; local < last; ++local) {
      const graph::Row row = job.owned_rows()[job.ownership().vertex(job.rank(), local)];
      row.weights().visit([&](const auto weights) {
        for (std::size_t e = 0; e < weights.size(); ++e) {
          const auto weight = static_cast<double>(weights[e]);
          sum += weight;
          if (weight >= 0) continue;
          const graph::VertexNames names(job.graph());
          std::vector<VertexId> room;
          throw Error(
              fmt::format("{}: edge {} -> {} has weight {:g}; sssp needs weights that are not negative",
                          job.graph().path(), names(row.vertex), names(job.ids_of(local, room)[e]), weight));
        }
      });
    }
    sums[first >> 14] = sum;
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

/// Returns the same from the figures of weights on disks.
double weight_sum(const Graph& graph, const frontier::WeightFigures& weights) {
  if (weights.least < 0)
    throw Error(fmt::format("{}: an edge has weight {:g}; sssp needs weights that are not negative",
                            graph.path(), weights.least));
  return weights.sum;
}

}  // namespace

template <class Distance>
Sssp<Distance>::Sssp(frontier::Job& job, double asked, bool unit) : delta(asked), unit_weights(unit) {
  job.expect_weights(weighted());
  if (asked != 0) check_range(opt::delta, asked);
  if (kWhole && !unit && !graph::is_whole(job.graph().weights().type()))
    throw Error(fmt::format("{}: weights are {}, not whole numbers: let distances be floating point",
                            job.graph().path(), graph::name_of(job.graph().weights().type())));
  const auto edges = static_cast<double>(job.graph().edges());
  double sum = edges;
  if (!unit) {
    sum = job.on_disks() ? weight_sum(job.graph(), job.pages()->weights()) : weight_sum(job);
    sum = launch::allreduce(job.bootstrap(), sum, std::plus<>());
  }
  if (asked == 0) {
    delta = sum / edges / (edges / static_cast<double>(job.graph().vertices())) / 4;
    if (!(delta > 0 && std::isfinite(delta))) delta = 1;
  }
  buckets_a_unit = 1 / std::max(delta, std::numeric_limits<double>::min());
}

template <class Distance>
void Sssp<Distance>::refuse(const Graph& graph, VertexId vertex) const {
  throw Error(fmt::format("{}: the shortest path to vertex {} is longer than {} can hold ({:.2g}): {}",
                          graph.path(), graph::VertexNames(graph)(vertex),
                          kWhole                  ? "u64"
                          : sizeof(Distance) == 4 ? "f32"
                                                  : "f64",
                          static_cast<double>(too_long()),
                          sizeof(Distance) == 8 && !kWhole ? "divide the weights"
                                                           : fmt::format("say {}", opt::precision("f64"))));
}

/// Searches breadth-first over the edges that explain distances: edges of weight 0, and those that are too
/// short to change a sum, may lead round in circles.
template <class Distance>
std::vector<PlainId> find_parents(const Graph& graph, VertexId source, std::span<const Distance> distances,
                                  bool unit_weights) {
  constexpr PlainId kNone = kNoVertex;
  graph.verify_rows(0, graph.vertices());
  std::vector<PlainId> parents(graph.vertices(), kNone);
  std::vector<VertexId> frontier{source}, next;
  std::vector<bool> settled(graph.vertices());  // whether a vertex is on a path of fewer edges than `next`
  parents[source] = source;
  for (settled[source] = true; !frontier.empty(); frontier = std::exchange(next, {})) {
    for (const VertexId u : frontier) {
      const graph::Row row{graph, u};
      const auto offer = [&](const auto& weight_of) {
        for (std::size_t e = 0; e < row.degree(); ++e) {
          const VertexId v = row.targets()[e];
          if (settled[v] || Sssp<Distance>::along(distances[u], weight_of(e)) != distances[v]) continue;
          if (parents[v] == kNone) next.push_back(v);
          parents[v] = std::min<PlainId>(parents[v], u);
        }
      };
      if (unit_weights || row.weights().empty())
        offer([](std::size_t) { return std::uint32_t{1}; });
      else
        row.weights().visit([&](const auto weights) { offer([&](std::size_t e) { return weights[e]; }); });
    }
    for (const VertexId v : next) settled[v] = true;
  }
  return parents;
}

template struct Sssp<float>;
template struct Sssp<double>;
template struct Sssp<std::uint64_t>;
template std::vector<PlainId> find_parents(const Graph&, VertexId, std::span<const float>, bool);
template std::vector<PlainId> find_parents(const Graph&, VertexId, std::span<const double>, bool);
template std::vector<PlainId> find_parents(const Graph&, VertexId, std::span<const std::uint64_t>, bool);

// These are compiled once, and for speed.
template class DeltaStepping<float>;
template class DeltaStepping<double>;
template class DeltaStepping<std::uint64_t>;

}  // namespace edgewire::kernels
