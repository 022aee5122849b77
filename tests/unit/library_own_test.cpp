// Kernels of a caller's own that run as ours do, in one call.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.h"
#include "edgewire/own_kernel.h"
#include "graph_test.h"
#include "library_test.h"
#include "spoken.h"

namespace edgewire {

namespace {

/// New value = factor times the sum over in-edges, times their weights. Start: id modulo 5.
template <class Offered>
struct Scaled {
  using Value = double;
  struct Constant {};
  using Message = Offered;
  using Accumulator = double;
  struct Totals {
    double sum;
  };

  static double identity() { return 0; }
  static double along(Message message) { return static_cast<double>(message); }
  static double along(Message message, double weight) { return static_cast<double>(message) * weight; }
  static double combine(double a, double b) { return a + b; }
  static double start(const graph::Row& row) { return row.vertex % 5; }
  static Constant constant(const graph::Row&) { return {}; }
  static Message message(double value, Constant) { return static_cast<Message>(value); }
  static Totals first_totals(std::span<const double>, std::span<const Constant>) { return {}; }
  double prepare(const Totals&) const { return factor; }
  static double apply(double, double sum, Constant, double times, Totals& own) {
    return own.sum = sum * times;
  }
  static bool done(const Totals&) { return false; }

  double factor;
};

/// Returns the same values edge by edge.
std::vector<double> scaled(const std::vector<graph::Edge>& edges, bool weighted, double factor,
                           int iterations) {
  std::vector<double> values(kVertices);
  for (std::uint32_t v = 0; v < kVertices; ++v) values[v] = v % 5;
  for (; iterations > 0; --iterations) {
    std::vector<double> next(kVertices, 0.0);
    for (const auto& [source, target, weight] : edges)
      next[target] += factor * values[source] * (weighted ? static_cast<double>(weight) : 1.0);
    values.swap(next);
  }
  return values;
}

/// Describes the kernel for these edges. `factor` outlives it.
template <class Offered>
OwnProgram<Scaled<Offered>> scaling(const std::vector<graph::Edge>& edges, double& factor) {
  OwnProgram<Scaled<Offered>> own;
  own.words = {.name = "scaled",
               .summary = "scale",
               .value = "size",
               .options = {{"factor", "what sums are multiplied by", &factor, 0, 10}}};
  own.program = [&factor] { return Scaled<Offered>{factor}; };
  own.iterations = 3;
  own.expected = [&](const Graph& graph, int iterations) {
    return scaled(edges, graph.weighted(), factor, iterations);
  };
  return own;
}

/// Runs a kernel in two processes. Returns what rank 0 gets.
template <class Value, class Own>
Result<Value> run_in_two(const Graph& graph, const Own& own, const JobOptions& job) {
  Result<Value> found;
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    Result<Value> result = run_kernel(bootstrap, graph, own_kernel(own), job);
    if (bootstrap.rank() == 0)
      found = std::move(result);
    else
      CHECK(result.values.empty());
  });
  return found;
}

/// Each vertex takes the smallest id that an edge brings, in one superstep; ids travel as `Message`.
template <class Message>
OwnSearch<Message, PlainId> smallest_source() {
  OwnSearch<Message, PlainId> own;
  own.words = {.name = "smallest", .summary = "find", .value = "source"};
  own.values = [](FrontierJob<Message>& job) {
    std::vector<PlainId> smallest;
    for (LocalNumber v{}; v < job.owned(); ++v) smallest.push_back(job.vertex(v));
    const std::vector<PlainId> own_ids = smallest;
    job.superstep(
        job.all(),
        [&](const FrontierRow& row, const auto& tell) {
          for (const KnownNumber target : row.targets)
            tell(target, static_cast<Message>(own_ids[row.vertex]));
        },
        [&](KnownNumber v, Message id) {
          return v >= job.owned() || lower(smallest[v], static_cast<PlainId>(id));
        });
    return smallest;
  };
  own.fault = [](const Graph&, std::span<const PlainId> all) {
    return all[0] == 0 ? std::string() : "vertex 0 has another one";
  };
  return own;
}

std::vector<PlainId> smallest_sources(const std::vector<graph::Edge>& edges) {
  std::vector<PlainId> all(kVertices);
  std::iota(all.begin(), all.end(), PlainId{0});
  for (const auto& [source, target, weight] : edges) all[target] = std::min<PlainId>(all[target], source);
  return all;
}

}  // namespace

TEST_CASE("a program of one's own returns values and a report, and is verified") {
  const auto edges = some_edges();
  double factor = 0.25;
  for (const bool weighted : {false, true}) {
    const graph::BuiltGraph built(kVertices, edges, {.weighted = weighted});
    const auto floats = run_in_two<double>(built.graph, scaling<float>(edges, factor),
                                           {.workers = 2, .verify = true, .profile = true});
    const auto expected = scaled(edges, weighted, factor, 3);
    for (std::uint32_t v = 0; v < kVertices; ++v)
      CHECK(floats.values[v] == doctest::Approx(expected[v]).epsilon(1e-5));
    CHECK(floats.report.steps == 3);
    CHECK(floats.report.payload_bytes == floats.report.required_bytes);
    CHECK(floats.report.payload_bytes > 0);
    for (const char* text : {R"("kernel": "scaled")", R"("factor": 0.25)", R"("passed": true)"})
      CHECK_MESSAGE(graph::contains(floats.report.json, text), floats.report.json);
    CHECK(graph::contains(floats.report.page, "scaled"));
    const auto doubles = run_in_two<double>(built.graph, scaling<double>(edges, factor), {.verify = true});
    for (std::uint32_t v = 0; v < kVertices; ++v)
      CHECK(doubles.values[v] == doctest::Approx(expected[v]).epsilon(1e-12));
  }
}

TEST_CASE("a program of one's own whose values are wrong or mean nothing is refused") {
  const options::Spoken spoken(options::Face::cpp);
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges);
  double factor = 0.25;
  const auto fault = [&](const OwnProgram<Scaled<float>>& own, const JobOptions& job) {
    return graph::error_of([&] { run_in_two<double>(built.graph, own, job); });
  };
  auto wrong = scaling<float>(edges, factor);
  wrong.expected = [&](const Graph&, int iterations) {
    auto values = scaled(edges, false, factor, iterations);
    values[7] *= 1.01;
    return values;
  };
  CHECK(graph::contains(fault(wrong, {.verify = true}), "the size of vertex 7 by 99 times the tolerance"));
  wrong.tolerance = 0.02;
  CHECK_NOTHROW(run_in_two<double>(built.graph, wrong, {.verify = true}));
  wrong.expected = [](const Graph&, int) { return std::vector<double>(3); };
  CHECK(graph::contains(fault(wrong, {.verify = true}),
                        "scaled: OwnProgram::expected returned 3 values of 60 vertices"));
  wrong.expected = nullptr;
  CHECK(fault(wrong, {.verify = true}) ==
        "JobOptions::verify: scaled says nothing of what is right; set OwnProgram::expected");
  CHECK_NOTHROW(run_in_two<double>(built.graph, wrong, {}));
  wrong.ended = [](const Scaled<float>& program, const Scaled<float>::Totals& totals) {
    if (program.factor == 0.25 && totals.sum > 0) throw Error("the sum is above 0");
  };
  CHECK(graph::contains(fault(wrong, {}), "the sum is above 0"));
  auto none = scaling<float>(edges, factor);
  none.iterations = 0;
  CHECK(graph::contains(fault(none, {}), "iterations = 0 is outside the range 1 to"));
  CHECK(graph::contains(fault(scaling<float>(edges, factor), {.bound = true}), "scaled has no such option"));
  CHECK(
      graph::contains(fault(scaling<float>(edges, factor), {.weighted = true}), "scaled has no such option"));
}

TEST_CASE("a frontier kernel of one's own returns labels, whatever its messages are, and is verified") {
  const options::Spoken spoken(options::Face::cpp);
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges);
  const auto expected = smallest_sources(edges);
  const auto check = [&](const Result<PlainId>& found) {
    CHECK(found.values == expected);
    CHECK(found.report.steps == 1);
    CHECK(graph::contains(found.report.json, R"("kernel": "smallest")"));
    CHECK(graph::contains(found.report.text, "groups, the largest has"));
    CHECK(found.report.payload_bytes > 0);
  };
  check(run_in_two<PlainId>(built.graph, smallest_source<PlainId>(), {.workers = 1, .verify = true}));
  check(run_in_two<PlainId>(built.graph, smallest_source<std::uint64_t>(), {.workers = 1, .verify = true}));
  auto wrong = smallest_source<PlainId>();
  const auto fault = [&](const JobOptions& job) {
    return graph::error_of([&] { run_in_two<PlainId>(built.graph, wrong, job); });
  };
  wrong.fault = [](const Graph&, std::span<const PlainId>) { return "vertex 5 is wrong"; };
  CHECK(graph::contains(fault({.verify = true}), "the result is wrong: vertex 5 is wrong"));
  wrong.fault = nullptr;
  CHECK(fault({.verify = true}) ==
        "JobOptions::verify: smallest says nothing of what is right; set OwnSearch::fault");
  CHECK(graph::contains(fault({.strategy = Strategy::cover}), "smallest has no such option"));
  wrong.values = [](FrontierJob<PlainId>&) { return std::vector<PlainId>(1); };
  CHECK(graph::contains(fault({}), "smallest: OwnSearch::values returned 1 values of 30 vertices"));
}

TEST_CASE("a frontier kernel of one's own returns numbers, by weights") {
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges, {.weighted = true});
  OwnSearch<double, double> own;
  own.words = {.name = "sums", .summary = "add", .value = "sum"};
  own.weighted = true;
  own.values = [](FrontierJob<double>& job) {
    std::vector<double> sums(job.owned());
    job.superstep(
        job.all(),
        [](const FrontierRow& row, const auto& tell) {
          for (std::size_t i = 0; i < row.targets.size(); ++i) tell(row.targets[i], row.weights[i]);
        },
        [&](KnownNumber v, double weight) {
          if (v >= job.owned()) return true;
          sums[v] += weight;
          return false;
        });
    return sums;
  };
  std::vector<double> expected(kVertices);
  for (const auto& [source, target, weight] : edges) expected[target] += static_cast<double>(weight);
  const auto found = run_in_two<double>(built.graph, own, {.workers = 1});
  CHECK(found.values == expected);
  CHECK(graph::contains(found.report.text, "highest:"));
}

}  // namespace edgewire
