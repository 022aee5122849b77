// Programs of a caller's own, through the public headers.
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.h"
#include "bootstraps.h"
#include "edgewire/program.h"
#include "graph_test.h"
#include "library_test.h"

namespace edgewire {

namespace {

constexpr double kModulus = 97;

/// New value = (sum over in-edges, times their weights, + sum over all vertices) modulo 97. Start: id
/// modulo 5, which is the constant, too.
struct Remainders {
  using Value = double;
  struct Constant {
    double start;
  };
  using Message = float;
  using Accumulator = double;
  struct Totals {
    double sum;
  };

  static double identity() { return 0; }
  static double along(Message message) { return static_cast<double>(message); }
  static double along(Message message, double weight) { return static_cast<double>(message) * weight; }
  static double combine(double a, double b) { return a + b; }
  static double start(const graph::Row& row) { return row.vertex % 5; }
  static Constant constant(const graph::Row& row) { return {start(row)}; }
  static Message message(double value, Constant) { return static_cast<Message>(value); }
  static Totals first_totals(std::span<const double> values, std::span<const Constant>) {
    return {std::accumulate(values.begin(), values.end(), 0.0)};
  }
  static double prepare(const Totals& last) { return last.sum; }
  static double apply(double, double sum, Constant, double all, Totals& own) {
    own.sum = std::fmod(sum + all, kModulus);
    return own.sum;
  }
  bool done(const Totals& totals) const { return totals.sum == goal; }

  double goal = -1;
};

/// Returns the same values edge by edge, and the sum of the last ones.
std::vector<double> remainders(const std::vector<graph::Edge>& edges, bool weighted, int iterations) {
  std::vector<double> values(kVertices);
  for (std::uint32_t v = 0; v < kVertices; ++v) values[v] = v % 5;
  for (; iterations > 0; --iterations) {
    const double all = std::accumulate(values.begin(), values.end(), 0.0);
    std::vector<double> next(kVertices, all);
    for (const auto& [source, target, weight] : edges)
      next[target] += values[source] * (weighted ? static_cast<double>(weight) : 1.0);
    for (std::uint32_t v = 0; v < kVertices; ++v) values[v] = std::fmod(next[v], kModulus);
  }
  return values;
}

/// Runs a program in each of two processes. Returns what rank 0 gathers.
std::vector<double> remainders_of_two(const Graph& graph, const JobOptions& options, int iterations) {
  std::vector<double> all;
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    const auto job = make_dense_job(bootstrap, graph, options);
    Remainders program;
    DenseRun run(*job, program);
    CHECK(run.iterate({.iterations = iterations}).size() == static_cast<std::size_t>(iterations));
    CHECK(run.values().size() == owned_vertices(*job).size());
    auto values = run.gather();
    if (bootstrap.rank() == 0) {
      CHECK(run.totals().sum == std::accumulate(values.begin(), values.end(), 0.0));
      all = std::move(values);
    } else {
      CHECK(values.empty());
    }
  });
  return all;
}

}  // namespace

TEST_CASE("a program of one's own runs with every strategy, with weights and without") {
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges, {.weighted = true});
  for (const auto strategy : {Strategy::automatic, Strategy::edge, Strategy::worker, Strategy::process,
                              Strategy::slots, Strategy::cover}) {
    for (const bool weighted : {false, true}) {
      CAPTURE(strategy);
      CAPTURE(weighted);
      const JobOptions options{.workers = 2, .weighted = weighted, .strategy = strategy};
      CHECK(remainders_of_two(built.graph, options, 4) == remainders(edges, weighted, 4));
    }
  }
  for (const char* ownership : {"ranges", "hilbert", "grid", "auto"})
    CHECK(remainders_of_two(built.graph, {.ownership = ownership}, 3) == remainders(edges, false, 3));
}

TEST_CASE("a run goes on where another one ended, and ends where the program says so") {
  const auto edges = some_edges();
  const graph::BuiltGraph built(kVertices, edges);
  in_processes(2, [&](launch::Bootstrap& bootstrap) {
    const auto job = make_dense_job(bootstrap, built.graph, {});
    Remainders program;
    DenseRun first(*job, program);
    first.iterate({.iterations = 2});
    const std::vector<double> kept(first.values().begin(), first.values().end());
    CHECK(graph::contains(graph::error_of([&] { first.iterate({.iterations = 3}); }), "runs once"));
    const auto next = make_dense_job(bootstrap, built.graph, {});
    DenseRun second(*next, program);
    second.resume(2, kept, nullptr);
    CHECK(second.resumed_at() == 2);
    CHECK(second.iterate({.iterations = 5}).size() == 3);
    const auto values = second.gather();
    if (bootstrap.rank() == 0) CHECK(values == remainders(edges, false, 5));

    const auto third = remainders(edges, false, 3);
    Remainders ending{std::accumulate(third.begin(), third.end(), 0.0)};
    const auto last = make_dense_job(bootstrap, built.graph, {});
    DenseRun ended(*last, ending);
    CHECK(ended.iterate({.iterations = 9, .has_goal = true}).size() == 3);
  });
}

TEST_CASE("programs refuse values of other vertices, and iterations that make no sense") {
  const graph::BuiltGraph built(kVertices, some_edges());
  const auto alone = launch::alone();
  const auto job = make_dense_job(*alone, built.graph, {});
  Remainders program;
  DenseRun run(*job, program);
  const std::vector<double> few(kVertices - 1), enough(kVertices);
  CHECK(graph::error_of([&] { run.resume(1, few, nullptr); }) ==
        "it has values of 59 vertices, and this process owns 60");
  CHECK(graph::contains(graph::error_of([&] { run.resume(5'000'000'000, enough, nullptr); }), "5000000000"));
  CHECK(graph::contains(graph::error_of([&] { gather_values<double>(*job, few); }),
                        "60 vertices, and 59 values"));
  CHECK(graph::contains(graph::error_of([&] { run.iterate({.iterations = -1}); }), "--iterations -1"));
  CHECK_THROWS_AS(run.iterate({.iterations = -1}), UsageError);
  const auto wide = make_dense_job(*alone, built.graph, {.wire = Wire::f64});
  DenseRun narrow(*wide, program);
  CHECK(graph::contains(graph::error_of([&] { narrow.iterate({}); }), "do not fit wire f64"));
}

TEST_CASE("processes that ask for different iterations are told so, and do not wait") {
  const graph::BuiltGraph built(kVertices, some_edges());
  const auto line = graph::error_of([&] {
    in_processes(2, [&](launch::Bootstrap& bootstrap) {
      const auto job = make_dense_job(bootstrap, built.graph, {});
      Remainders program;
      DenseRun(*job, program).iterate({.iterations = 3 + bootstrap.rank()});
    });
  });
  CHECK(graph::contains(line, "the number of iterations to run is 3 at rank 0, 4 at rank 1"));
}

}  // namespace edgewire
