#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "kernels/check/check.h"
#include "kernels/check/plain.h"

namespace edgewire::kernels {

namespace {

__extension__ using Uint128 = unsigned __int128;

template <class Distance>
class SsspCheck {
 public:
  SsspCheck(const Graph& graph, VertexId source, std::span<const Distance> distances, bool unit,
            std::span<const PlainId> parents)
      : graph_(graph),
        source_(source),
        distances_(distances),
        unit_(unit || !graph.weighted()),
        parents_(parents),
        vertices_(static_cast<PlainId>(graph.vertices())) {
    if (kWhole && !unit_ && !graph::is_whole(graph.weights().type()))
      throw UsageError("whole distances are of edges whose weights are whole");
    graph.verify_rows(0, vertices_);
  }

  DistanceCheck check() {
    DistanceCheck found;
    for (const auto& step : {&SsspCheck::values, &SsspCheck::no_shorter_way, &SsspCheck::explained,
                             &SsspCheck::parents_explain, &SsspCheck::parents_lead_back})
      if (found.fault.empty()) found.fault = (this->*step)();
    if (found.fault.empty()) compare(found);
    return found;
  }

 private:
  static constexpr bool kWhole = std::is_integral_v<Distance>;
  using Limits = std::numeric_limits<Distance>;
  using Sum = std::conditional_t<kWhole, Uint128, long double>;
  static constexpr Distance kFar = kWhole ? Limits::max() : Limits::infinity();
  /// The value of sums that are longer than a distance can be.
  static constexpr Distance kMost = kWhole ? Limits::max() - 1 : Limits::max();

  std::string name(VertexId v) const { return vertex_name(graph_, v); }
  bool reached(VertexId v) const { return distances_[v] != kFar; }
  template <class Weight>
  static Distance add(Distance distance, Weight weight) {
    if constexpr (kWhole) {
      const Uint128 sum = Uint128{distance} + static_cast<Uint128>(weight);
      return sum < kMost ? static_cast<Distance>(sum) : kMost;
    } else {
      const Distance sum = distance + static_cast<Distance>(weight);
      return std::isfinite(sum) ? sum : kMost;
    }
  }
  template <class Visit>
  void each_edge_of_all(const Visit& visit) const {
    for (VertexId u{}; u < vertices_; ++u)
      if (reached(u)) each_edge(graph_, u, unit_, [&](VertexId v, auto weight) { visit(u, v, weight); });
  }

  std::string values() {
    for (VertexId v{}; v < vertices_; ++v)
      if (!(distances_[v] >= 0))
        return fmt::format("{} has distance {}, which is no distance", name(v), distances_[v]);
    if (distances_[source_] == 0) return {};
    return fmt::format("{} is the source and has distance {}, not 0", name(source_), distances_[source_]);
  }
  std::string no_shorter_way() {
    std::string fault;
    each_edge_of_all([&](VertexId u, VertexId v, auto weight) {
      const Distance way = add(distances_[u], weight);
      if (distances_[v] > way && fault.empty())
        fault = fmt::format("{} has distance {}, but the way over {} has length {}", name(v), distances_[v],
                            name(u), way);
    });
    return fault;
  }
  /// Counts the edges that lead from the source to each vertex, over edges that explain distances.
  std::string explained() {
    edges_.assign(vertices_, kNoLevel);
    edges_[source_] = 0;
    std::vector<VertexId> queue{source_};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const VertexId u = queue[at];
      each_edge(graph_, u, unit_, [&](VertexId v, auto weight) {
        if (edges_[v] != kNoLevel || distances_[v] != add(distances_[u], weight)) return;
        edges_[v] = edges_[u] + 1;
        queue.push_back(v);
      });
    }
    for (VertexId v{}; v < vertices_; ++v)
      if (reached(v) && edges_[v] == kNoLevel)
        return fmt::format("{} has distance {}, but no way from the source is as short", name(v),
                           distances_[v]);
    return {};
  }
  std::string parents_explain() {
    if (parents_.empty()) return {};
    std::vector<bool> has_parent(vertices_);
    each_edge_of_all([&](VertexId u, VertexId v, auto weight) {
      if (parents_[v] == u && distances_[v] == add(distances_[u], weight)) has_parent[v] = true;
    });
    for (VertexId v{}; v < vertices_; ++v) {
      if (!reached(v) && parents_[v] != kNoVertex) return name(v) + " is not reached, but has a parent";
      if (v == source_ && parents_[v] != v) return name(v) + " is the source, but not its own parent";
      if (v != source_ && reached(v) && !has_parent[v])
        return fmt::format("{} has distance {}, but no edge from its parent explains it", name(v),
                           distances_[v]);
    }
    return {};
  }
  std::string parents_lead_back() {
    if (parents_.empty()) return {};
    std::vector<bool> leads_back(vertices_);
    leads_back[source_] = true;
    for (VertexId v{}; v < vertices_; ++v) {
      if (!reached(v)) continue;
      std::uint64_t steps = 0;
      for (VertexId at = v; !leads_back[at]; at = VertexId(parents_[at]))
        if (++steps > vertices_) return "the parents of " + name(v) + " lead round in a circle";
      for (VertexId at = v; !leads_back[at]; at = VertexId(parents_[at])) leads_back[at] = true;
    }
    return {};
  }
  /// Compares distances with the bound that docs/sssp.md derives.
  void compare(DistanceCheck& found) const {
    constexpr long double kRoundoff = kWhole ? 0
                                             : static_cast<long double>(Limits::epsilon()) / 2 +
                                                   std::numeric_limits<long double>::epsilon() / 2;
    const bool may_vanish =
        sizeof(Distance) == 4 && !unit_ && graph_.weights().type() == graph::WeightType::f64;
    const auto reference = plain_dijkstra<Sum>(graph_, source_, unit_);
    long double all = 0, limits = 0;
    for (VertexId v{}; v < vertices_; ++v) {
      if (reached(v) != reference.is_reached(v)) {
        found.fault = fmt::format("{} is {}, but not in a sequential search", name(v),
                                  reached(v) ? "reached" : "not reached");
        return;
      }
      if (!reached(v)) continue;
      const std::uint32_t edges = std::max(edges_[v], reference.edges[v]);
      const long double off = edges * kRoundoff;
      const long double bound = off < 1 ? off / (1 - off) : std::numeric_limits<long double>::infinity();
      const auto right = static_cast<long double>(reference.sums[v]);
      const long double difference = kWhole ? static_cast<Sum>(distances_[v]) != reference.sums[v]
                                            : std::fabs(static_cast<long double>(distances_[v]) - right);
      const long double allowed = (right > 0 ? bound * right : 0) + (may_vanish ? edges * 0x1p-150L : 0);
      found.edges = std::max<std::uint64_t>(found.edges, edges);
      found.bound = std::max(found.bound, static_cast<double>(bound));
      if (right > 0) {
        found.error = std::max(found.error, static_cast<double>(difference / right));
        found.unchecked += allowed >= right ? 1 : 0;
        all += right;
        limits += allowed;
      }
      if (difference <= allowed) continue;
      found.fault = fmt::format("{} has distance {}, but a sequential search gives {:.20Lg}", name(v),
                                distances_[v], right);
      return;
    }
    found.conclusive = all == 0 || limits < all;
  }

  const Graph& graph_;
  VertexId source_;
  std::span<const Distance> distances_;
  bool unit_;
  std::span<const PlainId> parents_;
  VertexId vertices_;
  std::vector<std::uint32_t> edges_;  ///< number of edges of a path that explains the distance
};

}  // namespace

// Why this is enough. No distance is too long: it satisfies each edge of a shortest path. None is too short:
// the edges that explain it form a path from the source of just that length. They are followed from the
// source on, so edges of weight 0 in a circle do not explain one another. The reference shares no code with
// this, and shows what roundings have done.
DistanceCheck check_sssp(const Graph& graph, VertexId source, std::span<const float> distances,
                         bool unit_weights, std::span<const PlainId> parents) {
  return SsspCheck<float>(graph, source, distances, unit_weights, parents).check();
}
DistanceCheck check_sssp(const Graph& graph, VertexId source, std::span<const double> distances,
                         bool unit_weights, std::span<const PlainId> parents) {
  return SsspCheck<double>(graph, source, distances, unit_weights, parents).check();
}
DistanceCheck check_sssp(const Graph& graph, VertexId source, std::span<const std::uint64_t> distances,
                         bool unit_weights, std::span<const PlainId> parents) {
  return SsspCheck<std::uint64_t>(graph, source, distances, unit_weights, parents).check();
}

}  // namespace edgewire::kernels
