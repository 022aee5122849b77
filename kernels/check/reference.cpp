#include "kernels/check/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/spmv.h"

namespace edgewire::kernels {

namespace {

/// The reference rounds in long double: 2^-64 on x86, 2^-113 on Arm. So its own error is below a thousandth
/// of the limits, which count the same operations in double.
using Wide = long double;
constexpr double kOwnError = 1 + 0x1p-10;
constexpr double kUnit = 0x1p-53;  ///< unit roundoff of doubles

/// Returns how far (1 + d_1) ... (1 + d_k) is from 1 at most; `sum`: of all |d_i| (Higham, lemma 3.1).
double gamma(double sum) { return sum < 1 ? sum / (1 - sum) : std::numeric_limits<double>::infinity(); }

/// Returns the unit where a message is rounded to a float, or 0 where it is not.
double message_unit(const Rounding& rounding) { return rounding.doubles ? 0 : 0x1p-24; }

/// Returns the most that a value in 16 bits loses, as a part of itself, with what feedback adds in float.
double wire_unit(const Rounding& rounding) {
  return plan::is_rounded(rounding.wire) ? plan::rounding(rounding.wire) + 0x1p-22 : 0;
}

/// Returns the most that a small message loses. Numbers below the normal ones of a type have a fixed
/// distance. A message in that range may lose this much, however small it is.
double message_loss(const Rounding& rounding) {
  return rounding.doubles ? 2 * std::numeric_limits<double>::denorm_min()
                          : 2 * double{std::numeric_limits<float>::denorm_min()};
}

/// Returns the same for 16 bits, where no sum exceeds `largest`: half the distance of two such numbers is
/// lost, now and in the last iteration, and twice that where they are scaled to at most half the range. With
/// weights, mirrors are scaled by the most that their vertex offers; so this is the most that an edge brings
/// too much or too little, whatever its weight.
double wire_loss(const Rounding& rounding, double largest) {
  if (!plan::is_rounded(rounding.wire)) return 0;
  const double top = std::exp2(std::max(0.0, std::ceil(std::log2(largest))));
  const double step = rounding.wire == plan::Encoding::bf16  ? 0x1p-133
                      : rounding.wire == plan::Encoding::f16 ? top * 0x1p-39
                                                             : top * 0x1p-72;
  return 2 * rounding.legs * step;
}

/// Returns a limit that no rank exceeds.
double largest_rank(const PageRankOptions& options, std::uint64_t vertices) {
  return options.form_2015 ? static_cast<double>(vertices) : 1;
}

/// Returns, by vertex, the number of edges that lead to it.
std::vector<double> in_degrees(const Graph& graph) {
  std::vector<double> found(graph.vertices(), 0);
  for (const VertexId target : graph.targets()) found[target] += 1;
  return found;
}

std::uint64_t largest_of(const std::vector<double>& counts) {
  return counts.empty() ? 0 : static_cast<std::uint64_t>(*std::ranges::max_element(counts));
}

/// The sum that a vertex collects over its edges, and the largest error that a run may have in it.
struct Sum {
  Wide value = 0;
  double error = 0;
  /// Returns the error of a run whose terms are off by `error` in all, and which adds `terms` of them in any
  /// order: at most (terms - 1) roundings of each (Higham, section 4.2), and `more`.
  double added(double terms, double more) const {
    return error + gamma((std::max(terms - 1, 0.0) + more) * kUnit) * (static_cast<double>(value) + error);
  }
};

class Ranks {
 public:
  Ranks(const Graph& graph, const PageRankOptions& options, const Restarts& restarts,
        const Rounding& rounding)
      : graph_(graph),
        options_(options),
        restarts_(restarts),
        rounding_(rounding),
        // Ranks of all vertices are far below the limit of floats, or else wrong.
        message_loss_(restarts.vertices.empty() ? 0 : message_loss(rounding)),
        wire_loss_(wire_loss(rounding, largest_rank(options, graph.vertices()))),
        shared_by_(restarts.vertices.empty() ? static_cast<double>(graph.vertices()) : restarts.sum()),
        in_degrees_(in_degrees(graph)),
        weights_(graph.vertices()),
        vertices_(graph.vertices()),
        sums_(graph.vertices()),
        lost_(plan::is_rounded(rounding.wire) ? static_cast<std::size_t>(rounding.legs) : 0,
              std::vector<double>(graph.vertices())) {
    for (std::size_t u = 0; u < graph.vertices(); ++u) {
      for (std::uint64_t e = begin(u); e < begin(u + 1); ++e) weights_[u] += weight(e);
      if (!options.form_2015) vertices_[u] = {share(u) / Wide{shared_by_}, share_error() / shared_by_};
    }
  }

  Reference after(int iterations) {
    for (int done = 0; done < iterations; ++done) finish(follow_edges());
    Reference result;
    for (const Sum& one : vertices_) {
      result.values.push_back(static_cast<double>(one.value));
      result.limits.push_back(one.error * kOwnError + kUnit * result.values.back());
    }
    result.scales = result.values;
    result.longest_sum = largest_of(in_degrees_);
    return result;
  }

 private:
  std::uint64_t begin(std::size_t vertex) const { return graph_.offsets()[vertex]; }
  double weight(std::uint64_t edge) const { return options_.weighted ? graph_.weights()[edge] : 1; }
  double share(std::size_t vertex) const {
    return restarts_.vertices.empty() ? 1 : restarts_.share(VertexId(static_cast<PlainId>(vertex)));
  }
  /// Returns the most that a run's share of a vertex may be off: it is rounded as messages are, where it is
  /// given, and so is the sum of all.
  double share_error() const {
    return restarts_.shares.empty() ? kUnit : message_unit(rounding_) + 2 * kUnit;
  }

  /// Returns the most that a vertex's offer may be off, times the sum of its weights. `rank`: with its error.
  double error_offered(std::size_t u, double rank) {
    // These are rounded to a float: the inverse degree, the message, and a partial sum for each leg. These to
    // a double: the inverse degree, the message, its product with the weight; each sum of weights.
    const std::uint64_t edges = begin(u + 1) - begin(u);
    const double summed = options_.weighted && edges > 1 ? static_cast<double>(edges - 1) : 0;
    double error = gamma((2 + rounding_.legs) * message_unit(rounding_) + (3 + summed) * kUnit) * rank;
    for (auto& lost : lost_) {  // one leg after the other
      const double now = wire_unit(rounding_) * (rank + error + lost[u]) * kOwnError;
      error += now + lost[u];
      lost[u] = now;
    }
    return error;
  }

  /// Follows the edges, and returns the sum of dangling vertices.
  Sum follow_edges() {
    std::ranges::fill(sums_, Sum());
    Sum dangling;
    dangling_ = 0;
    for (std::size_t u = 0; u < vertices_.size(); ++u) {
      const auto [rank, error] = vertices_[u];
      if (weights_[u] == 0) {
        dangling_ += rank == 0 ? 0 : 1;
        dangling.value += rank;
        dangling.error += error;
        continue;
      }
      const double all = error + error_offered(u, static_cast<double>(rank) + error);
      if (rank == 0 && all == 0) continue;  // the value arrives as 0
      const Wide share = rank / weights_[u];
      const double share_error = all / static_cast<double>(weights_[u]);
      for (std::uint64_t e = begin(u); e < begin(u + 1); ++e) {
        const double part = weight(e);
        Sum& to = sums_[graph_.targets()[e]];
        if (part == 0) continue;
        to.value += share * part;
        to.error += share_error * part + message_loss_ * std::max(part, 1.0) + wire_loss_;
      }
    }
    return dangling;
  }

  void finish(const Sum& dangling) {
    const double d = options_.damping;
    Sum base{1 - Wide{d}, 0};
    if (!options_.form_2015) {
      base.value = (base.value + d * dangling.value) / shared_by_;
      base.error = d * dangling.added(dangling_, 0) / shared_by_;
    }
    // Four more roundings follow: 1 - d, + or times d, / n, and then + to the rest.
    base.error = base.added(1, 4);
    for (std::size_t v = 0; v < vertices_.size(); ++v) {
      // Two more roundings follow: times d, and + to the base.
      const double error = d * sums_[v].added(in_degrees_[v], 2);
      vertices_[v] = {d * sums_[v].value, error > 0 ? error + std::numeric_limits<double>::denorm_min() : 0};
      const double part = share(v);
      if (part == 0) continue;
      vertices_[v].value += part * base.value;
      const double rounded = restarts_.shares.empty() ? 0 : 2 * share_error();
      vertices_[v].error += base.error + rounded * static_cast<double>(base.value);
    }
  }

  const Graph& graph_;
  const PageRankOptions& options_;
  const Restarts& restarts_;
  const Rounding& rounding_;
  double message_loss_;  ///< loss of a message that becomes a float or double, however small it is
  double wire_loss_;     ///< loss of a value between processes, however small it is
  double shared_by_;     ///< number of vertices that share the part that no edge brings
  double dangling_ = 0;  ///< number of vertices without edges whose rank is not 0 in the last iteration
  std::vector<double> in_degrees_;
  std::vector<Wide> weights_;              ///< sums of the weights of the vertices' edges, by vertex
  std::vector<Sum> vertices_;              ///< ranks of the vertices
  std::vector<Sum> sums_;                  ///< sums over the edges into a vertex
  std::vector<std::vector<double>> lost_;  ///< most that feedback can add to the next value, [leg][vertex]
};

}  // namespace

Reference reference_ranks(const Graph& graph, const PageRankOptions& options, int iterations,
                          const Restarts& restarts, const Rounding& rounding) {
  check(options, options.weighted && graph.weighted());
  if (!restarts.vertices.empty()) restarts.check(graph);
  graph.verify_rows(0, graph.vertices());
  return Ranks(graph, options, restarts, rounding).after(iterations);
}

Reference reference_spmv(const Graph& graph, std::span<const double> x, int iterations,
                         const Rounding& rounding) {
  check_vector(x, graph);
  const std::size_t n = graph.vertices();
  graph.verify_rows(0, n);
  const auto terms = in_degrees(graph);
  const double loss = message_loss(rounding);
  // A message, and a partial sum; the message times the weight.
  const double offered = gamma((1 + rounding.legs) * message_unit(rounding) + kUnit);
  struct Value {
    Wide signed_sum = 0;
    Sum magnitude;  ///< magnitude, and the error
  };
  std::vector<Value> values(n), next(n);
  for (std::size_t v = 0; v < n; ++v) {
    const double start = x.empty() ? 1 : x[v];
    values[v] = {start, {std::fabs(start), 0}};
  }
  for (int k = 0; k < iterations; ++k) {
    std::ranges::fill(next, Value());
    for (std::size_t u = 0; u < n; ++u) {
      const auto& [value, magnitude] = values[u];
      if (magnitude.value == 0 && magnitude.error == 0) continue;  // the value arrives as 0
      const double error =
          magnitude.error + offered * (static_cast<double>(magnitude.value) + magnitude.error);
      for (std::uint64_t e = graph.offsets()[u]; e < graph.offsets()[u + 1]; ++e) {
        const double weight = graph.weighted() ? graph.weights()[e] : 1, size = std::fabs(weight);
        if (weight == 0) continue;
        Value& to = next[graph.targets()[e]];
        to.signed_sum += weight * value;
        to.magnitude.value += size * magnitude.value;
        to.magnitude.error += size * error + loss * std::max(size, 1.0);
      }
    }
    for (std::size_t v = 0; v < n; ++v) next[v].magnitude.error = next[v].magnitude.added(terms[v], 0);
    std::swap(values, next);
  }
  Reference result;
  for (const auto& [value, magnitude] : values) {
    result.values.push_back(static_cast<double>(value));
    result.scales.push_back(static_cast<double>(magnitude.value));
    result.limits.push_back(magnitude.error * kOwnError + kUnit * std::fabs(result.values.back()));
  }
  result.longest_sum = largest_of(terms);
  return result;
}

double message_bound(const Graph& graph, const PageRankOptions& options, int iterations,
                     const Rounding& rounding) {
  double once = gamma((2 + rounding.legs) * message_unit(rounding) + 3 * kUnit);
  for (int leg = 0; leg < rounding.legs; ++leg) once += 2 * gamma(wire_unit(rounding)) * (1 + once);
  const double n = static_cast<double>(graph.vertices());
  const double all = options.form_2015 ? (1 - options.damping) * n : 1;  // least part that all ranks have
  const double lost = all == 0 ? 0
                               : wire_loss(rounding, largest_rank(options, graph.vertices())) *
                                     static_cast<double>(graph.edges()) / all;
  double bound = 0;
  for (int t = 0; t < iterations; ++t)
    bound = options.damping * (bound + once * (1 + bound) + lost) + 4 * kUnit;
  return bound;
}

double spmv_message_bound(int iterations, const Rounding& rounding) {
  return std::expm1(iterations * gamma((1 + rounding.legs) * message_unit(rounding) + kUnit));
}

Comparison compare(const Reference& expected, std::span<const double> values, const Rounding& rounding) {
  const double least =
      rounding.doubles ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
  Comparison result;
  double differences = 0, limits = 0, sum = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const double difference =  // two infinities count as equal
        values[v] == expected.values[v] ? 0 : std::fabs(values[v] - expected.values[v]);
    const double limit = expected.limits[v], scale = expected.scales[v];
    const double share = difference == 0 ? 0 : difference / limit;
    if (!std::isnan(result.limit_share) && !(share <= result.limit_share)) {
      result.limit_share = share;
      result.farthest = VertexId(static_cast<PlainId>(v));
    }
    differences += difference;
    limits += limit;
    sum += scale;
    if (scale < least) continue;
    result.largest_error = std::max(result.largest_error, difference / scale);
    result.largest_limit = std::max(result.largest_limit, limit / scale);
    result.unchecked += limit >= scale ? 1 : 0;
  }
  result.conclusive = sum == 0 || limits < sum;
  result.sum_error = sum == 0 ? differences : differences / sum;
  result.sum_limit = sum == 0 ? limits : limits / sum;
  return result;
}

}  // namespace edgewire::kernels
