// A program for tests/end_to_end/test_own_kernels.py: kernels of a caller's own, one of which CASE may spoil.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "edgewire/own_kernel.h"

using namespace edgewire;

namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

/// The fewest edges from a vertex; infinity where no path leads.
struct Hops {
  using Value = double;
  struct Constant {};
  using Message = double;
  using Accumulator = double;
  struct Totals {
    double changed;
  };

  static double identity() { return kFar; }
  static double along(Message message) { return message + 1; }
  static double combine(double a, double b) { return a < b ? a : b; }
  double start(const graph::Row& row) const { return row.vertex == source ? 0 : kFar; }
  static Constant constant(const graph::Row&) { return {}; }
  static Message message(double value, Constant) { return value; }
  static Totals first_totals(std::span<const double>, std::span<const Constant>) { return {1}; }
  static double prepare(const Totals&) { return 0; }
  double apply(double old, double nearest, Constant, double, Totals& own) const {
    const double value = nearest < old ? nearest : old;
    own.changed = value < old ? 1 : 0;
    return value > spoiled ? std::nan("") : value;
  }
  static bool done(const Totals& totals) { return totals.changed == 0; }

  VertexId source;
  double spoiled;  ///< values above it become no number
};

/// Returns the same, following the edges of one vertex after another.
std::vector<double> hops(const Graph& graph, VertexId source) {
  std::vector<double> all(graph.vertices(), kFar);
  std::vector<VertexId> queue{source};
  all[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint64_t edge = graph.offsets()[queue[i]]; edge < graph.offsets()[queue[i] + 1]; ++edge) {
      const VertexId target = graph.targets()[edge];
      if (all[target] != kFar) continue;
      all[target] = all[queue[i]] + 1;
      queue.push_back(target);
    }
  return all;
}

/// Returns for each owned vertex itself, or what CASE says.
std::vector<PlainId> own_ids(FrontierJob<PlainId>& job, const std::string& spoil) {
  std::vector<PlainId> labels;
  for (LocalNumber v{}; v < job.owned(); ++v) labels.push_back(job.vertex(v));
  if (spoil == "label") labels.back() = static_cast<PlainId>(job.graph().vertices());
  return labels;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const variable = std::getenv("CASE");
  const std::string spoil = variable != nullptr ? variable : "";
  VertexId source{};
  double cost = 1;
  OwnProgram<Hops> program;
  program.words = {.name = "hops",
                   .summary = "count the edges of shortest paths",
                   .value = "hops",
                   .options = {{"from", "the vertex where paths begin", &source},
                               {"cost", "what an edge counts", &cost, 1, 1}}};
  program.program = [&] { return Hops{source, spoil == "nan" ? 1 : kFar}; };
  program.iterations = 1000;
  program.has_goal = true;
  program.expected = [&](const Graph& graph, int) { return hops(graph, source); };
  OwnSearch<PlainId, PlainId> search;
  search.words = {.name = "ids", .summary = "name each vertex", .value = "label"};
  search.values = [&](FrontierJob<PlainId>& job) { return own_ids(job, spoil); };
  if (spoil == "name") search.words.name = "-x";
  if (spoil == "twice") search.words.name = "hops";
  if (spoil == "ours") search.words.name = "bfs";
  if (spoil == "value") search.words.value = "a\"b";
  if (spoil == "summary") search.words.summary.clear();
  if (spoil == "values") search.values = nullptr;
  if (spoil == "program") program.program = nullptr;
  if (spoil == "option") program.words.options[1].name = "top";
  if (spoil == "comma") program.words.options[1].name = "a,b";
  if (spoil == "null") program.words.options[1].value = static_cast<double*>(nullptr);
  if (spoil == "range") program.words.options[1].most = 0;
  if (spoil == "tolerance") program.tolerance = -1;
  if (spoil == "iterations") program.iterations = 0;
  return run_command_line(argc, argv, {own_kernel(program), own_kernel(search)});
}
