// Programs whose results are exact, each with a sequential reference.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "edgewire/graph.h"

namespace edgewire::engine {

inline constexpr double kModulus = 97;

/// A program whose new value = (sum over in-edges, times their weights, + sum over all vertices) modulo 97.
/// Start: id modulo 5.
template <class Offered>
struct Integers {
  using Value = Offered;
  struct Constant {};
  using Message = Offered;
  using Accumulator = double;
  struct Totals {
    double sum = 0;
  };

  static double identity() { return 0; }
  static double along(Message message) { return static_cast<double>(message); }
  static double along(Message message, double weight) { return static_cast<double>(message) * weight; }
  static double combine(double a, double b) { return a + b; }
  static Message message(Value value, Constant) { return value; }
  static double prepare(const Totals& last) { return last.sum; }
  static Value apply(Value, double sum, Constant, double all, Totals& own) {
    const auto value = static_cast<Value>(std::fmod(sum + all, kModulus));
    own.sum = static_cast<double>(value);
    return value;
  }
  static Totals first_totals(std::span<const Value> values, std::span<const Constant>) {
    return {std::accumulate(values.begin(), values.end(), 0.0)};
  }
  bool done(const Totals& totals) const { return totals.sum == goal; }
  static Value start(std::uint32_t id) { return static_cast<Value>(id % 5); }
  static double largest() { return 1 << 15; }

  double goal = -1;
};

/// The least id from which a path leads to a vertex: unsigned integers, minima, no weights.
struct LeastSource {
  using Value = std::uint32_t;
  struct Constant {};
  using Message = std::uint32_t;
  using Accumulator = std::uint32_t;
  struct Totals {
    double changed = 0;
  };

  static Accumulator identity() { return ~0U; }
  static Accumulator along(Message message) { return message; }
  static Accumulator combine(Accumulator a, Accumulator b) { return std::min(a, b); }
  static Message message(Value value, Constant) { return value; }
  static int prepare(const Totals&) { return 0; }
  static Value apply(Value value, Accumulator least, Constant, int, Totals& own) {
    own.changed = least < value ? 1 : 0;
    return std::min(value, least);
  }
  static Totals first_totals(std::span<const Value>, std::span<const Constant>) { return {}; }
  static bool done(const Totals& totals) { return totals.changed == 0; }
  static Value start(std::uint32_t id) { return id; }
};

/// Both at once, in messages of 16 bytes: the value is the sum of Integers<double>, plus 1000 times the least
/// source.
struct Both {
  struct Message {
    double sum;
    std::uint32_t least, unused;
    explicit operator float() const { return static_cast<float>(sum + 1000.0 * least); }
  };
  using Value = Message;
  using Accumulator = Message;
  using Constant = Integers<double>::Constant;
  using Totals = Integers<double>::Totals;

  static Accumulator identity() { return {0, ~0U, 0}; }
  static Accumulator along(const Message& message) { return message; }
  static Accumulator combine(const Accumulator& a, const Accumulator& b) {
    return {a.sum + b.sum, std::min(a.least, b.least), 0};
  }
  static Message message(const Value& value, Constant) { return value; }
  static double prepare(const Totals& last) { return last.sum; }
  static Value apply(const Value& value, const Accumulator& all, Constant, double total, Totals& own) {
    return {Integers<double>::apply(value.sum, all.sum, {}, total, own), std::min(value.least, all.least), 0};
  }
  static Totals first_totals(std::span<const Value> values, std::span<const Constant>) {
    double sum = 0;
    for (const Value& value : values) sum += value.sum;
    return {sum};
  }
  static bool done(const Totals&) { return false; }
  static Value start(std::uint32_t id) { return {static_cast<double>(id % 5), id, 0}; }
};

inline std::vector<std::uint32_t> least_sources(const Graph& graph) {
  std::vector<std::uint32_t> least(graph.vertices(), ~0U);
  std::vector<std::uint32_t> stack;
  for (std::uint32_t from = 0; from < graph.vertices(); ++from) {
    for (stack.push_back(from); !stack.empty();) {
      const std::uint32_t v = stack.back();
      stack.pop_back();
      if (least[v] <= from) continue;
      least[v] = from;
      const auto targets =
          graph.targets().subspan(graph.offsets()[v], graph.offsets()[v + 1] - graph.offsets()[v]);
      stack.insert(stack.end(), targets.begin(), targets.end());
    }
  }
  return least;
}

/// Returns the values after each iteration; [0] are those at the start.
inline std::vector<std::vector<float>> sequentially(const Graph& graph, int iterations) {
  std::vector<std::vector<float>> all(1);
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) all[0].push_back(static_cast<float>(v % 5));
  for (int t = 0; t < iterations; ++t) {
    double total = 0;
    std::vector<double> sums(graph.vertices());
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      total += all.back()[v];
      for (std::uint64_t e = graph.offsets()[v]; e < graph.offsets()[v + 1]; ++e)
        sums[graph.targets()[e]] += all.back()[v] * (graph.weighted() ? graph.weights()[e] : 1);
    }
    std::vector<float> next;
    for (const double sum : sums) next.push_back(static_cast<float>(std::fmod(sum + total, kModulus)));
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace edgewire::engine
