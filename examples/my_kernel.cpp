// A kernel of your own, run by two processes of this machine: Katz centrality (Katz: "A New Status Index
// Derived from Sociometric Analysis", 1953). The value of a vertex is 1 + ALPHA times the sum over those that
// have an edge to it.
//   c++ -O3 my_kernel.cpp $(pkg-config --cflags --libs edgewire) -o my_kernel && ./my_kernel g.ew 0.01
#include <edgewire/program.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

using namespace edgewire;

namespace {

/// What happens at a vertex and along an edge; see docs/kernels.md.
struct Katz {
  using Value = double;
  struct Constant {};
  using Message = float;  // what crosses the wire
  using Accumulator = double;
  struct Totals {
    double change, sum;  // of all values
  };

  static double identity() { return 0; }
  static double along(Message message) { return static_cast<double>(message); }
  static double combine(double a, double b) { return a + b; }

  static double start(const graph::Row&) { return 1; }
  static Constant constant(const graph::Row&) { return {}; }
  static Message message(double value, Constant) { return static_cast<Message>(value); }
  static Totals first_totals(std::span<const double>, std::span<const Constant>) { return {}; }
  double prepare(const Totals&) const { return alpha; }
  static double apply(double old, double sum, Constant, double factor, Totals& own) {
    const double value = 1 + factor * sum;
    own = {std::fabs(value - old), value};
    return value;
  }
  static bool settled(const Totals& totals) {
    return std::isfinite(totals.sum) && totals.change <= 1e-7 * totals.sum;
  }
  static bool done(const Totals& totals) { return settled(totals) || !std::isfinite(totals.sum); }

  double alpha;
};

/// In every process. Rank 0 prints the values of all vertices, in the order of their ids.
void run(launch::Bootstrap& bootstrap, const char* path, double alpha) {
  const auto graph = graph::GraphFile::open(path);
  const auto job = job::make_dense_job(bootstrap, graph, {.strategy = "cover"});
  Katz katz{alpha};
  job::DenseRun run(*job, katz);
  run.iterate({.iterations = 1000, .has_goal = true});
  if (!Katz::settled(run.totals()))
    throw Error(
        "the values grow without end, or have not settled after 1000 iterations; take a smaller ALPHA: below "
        "1 / (the largest out-degree, which `edgewire info` prints) they always settle");
  const std::vector<double> values = run.gather();  // at rank 0; elsewhere none
  for (VertexId v{}; v < values.size(); ++v)
    std::printf("%llu\t%.9g\n", static_cast<unsigned long long>(graph.original_id(v)), values[v]);
}

}  // namespace

int main(int argc, char** argv) {
  char* end = nullptr;
  const double alpha = std::strtod(argc == 3 ? argv[2] : "", &end);
  if (!(alpha > 0) || !std::isfinite(alpha) || *end != 0 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: %s GRAPH.ew ALPHA, a number above 0 such as 0.01\n", argv[0]);
    return 2;
  }
  try {
    launch::LaunchOptions options;
    options.processes = 2;
    return launch::run(options, [&](launch::Bootstrap& bootstrap) { run(bootstrap, argv[1], alpha); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
