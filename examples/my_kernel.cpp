// A kernel of your own, as a command beside those of `edgewire`: Katz centrality (Katz: "A New Status Index
// Derived from Sociometric Analysis", 1953). The value of a vertex is 1 + ALPHA times the sum over those that
// have an edge to it.
//   c++ -O3 my_kernel.cpp $(pkg-config --cflags --libs edgewire) -o my_kernel
//   ./my_kernel katz g.ew --alpha 0.001 -p 2 --verify
#include <edgewire/error.h>
#include <edgewire/own_kernel.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

using namespace edgewire;

namespace {

/// What happens at a vertex and along an edge; see docs/write-a-kernel.md.
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
  static Totals first_totals(std::span<const double> values, std::span<const Constant>) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return {sum, sum};  // they have not settled, also where a run goes on from a checkpoint
  }
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

void expect_settled(const Katz&, const Katz::Totals& totals) {
  if (!Katz::settled(totals))
    throw Error(
        "the values grow without end, or have not settled; take a smaller --alpha: below 1 / (the largest "
        "out-degree, which `edgewire info` prints) they always settle, or more --iterations");
}

/// The values of all vertices, one vertex after another. --verify compares with them.
std::vector<double> expected(const Graph& graph, int iterations, double alpha) {
  std::vector<double> values(graph.vertices(), 1);
  for (int i = 0; i < iterations; ++i) {
    std::vector<double> next(graph.vertices(), 1);
    for (VertexId v{}; v < graph.vertices(); ++v)
      for (std::uint64_t edge = graph.offsets()[v]; edge < graph.offsets()[v + 1]; ++edge)
        next[graph.targets()[edge]] += alpha * values[v];
    values.swap(next);
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  double alpha = 0.001;
  OwnProgram<Katz> katz;
  katz.words = {
      .name = "katz",
      .summary = "compute the Katz centrality of every vertex",
      .value = "score",
      .options = {{"alpha", "what a score counts from one vertex to the next", &alpha, 1e-300, 1e300}}};
  katz.program = [&] { return Katz{alpha}; };
  katz.iterations = 1000;
  katz.has_goal = true;
  katz.ended = expect_settled;
  katz.expected = [&](const Graph& graph, int done) { return expected(graph, done, alpha); };
  return run_command_line(argc, argv, {own_kernel(katz)});
}
