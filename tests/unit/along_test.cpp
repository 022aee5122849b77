// Programs that need the weights of edges, those that ignore them, and what goes along edges without any.
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "bootstraps.h"
#include "dense/job/dense_job.h"
#include "edgewire/program.h"
#include "refusals.h"

namespace edgewire {
namespace {

/// One iteration adds up what comes along the edges.
struct Sum {
  using Value = double;
  struct Constant {};
  using Message = float;
  using Accumulator = double;
  struct Totals {
    double none;
  };
  static double identity() { return 0; }
  static double combine(double a, double b) { return a + b; }
  static double start(const graph::Row& row) { return row.vertex + 1; }
  static Constant constant(const graph::Row&) { return {}; }
  static Message message(double value, Constant) { return static_cast<Message>(value); }
  static int prepare(const Totals&) { return 0; }
  static double apply(double, double sum, Constant, int, Totals& own) {
    own.none = 0;
    return sum;
  }
  static Totals first_totals(std::span<const double>, std::span<const Constant>) { return {}; }
  static bool done(const Totals&) { return false; }
};
struct NeedsWeights : Sum {
  static double along(Message message, double weight) { return double{message} * weight; }
};
struct WithoutWeights : Sum {
  static double along(Message message) { return 10 * double{message}; }
};

/// By vertex, after one iteration of as many processes; at rank 0.
template <class P>
std::vector<double> run(const graph::GraphFile& graph, const job::DenseOptions& options, int processes = 1) {
  auto bootstraps = launch::bootstraps(processes);
  if (processes == 1) bootstraps[0] = launch::alone();
  std::vector<double> values;
  std::vector<std::string> failures(bootstraps.size());
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < bootstraps.size(); ++p)
    threads.emplace_back([&, p] {
      failures[p] = refusal([&] {
        job::DenseJob job(*bootstraps[p], graph, options);
        P program;
        job::DenseRun run(job, program);
        run.iterate({.iterations = 1});
        const auto all = run.gather();
        if (p == 0) values = all;
        if (p != 0 && !all.empty()) throw Error("a process but rank 0 got values");
        bootstraps[p]->finish();
      });
    });
  for (auto& thread : threads) thread.join();
  if (processes == 1 && failures[0] != "nothing was refused") throw UsageError(failures[0]);
  for (const auto& failure : failures) CHECK(failure == "nothing was refused");
  return values;
}

TEST_CASE("programs that need weights, and those that have none") {
  const File weighted(true), plain(false);
  // The values are 1, 2, 3 and 4.
  CHECK(run<NeedsWeights>(weighted.graph, dense(true)) == std::vector<double>{32, 2, 6, 0});
  check_line(refusal([&] { run<NeedsWeights>(weighted.graph, {}); }), "JobOptions::weighted");
  check_line(refusal([&] { run<NeedsWeights>(plain.graph, {}); }), "JobOptions::weighted");
  check_line(refusal([&] { run<NeedsWeights>(plain.graph, dense(true)); }), "no weights");
  const std::vector<double> tenfold{70, 10, 20, 0};
  CHECK(run<WithoutWeights>(weighted.graph, {}) == tenfold);
  CHECK(run<WithoutWeights>(weighted.graph, dense(true)) == tenfold);
  for (const auto strategy : plan::kStrategies) {
    CAPTURE(plan::to_name(strategy));
    CHECK(run<WithoutWeights>(plain.graph, dense(false, "tcp", strategy), 2) == tenfold);
    CHECK(run<NeedsWeights>(weighted.graph, dense(true, "tcp", strategy), 2) ==
          std::vector<double>{32, 2, 6, 0});
  }
}

}  // namespace
}  // namespace edgewire
