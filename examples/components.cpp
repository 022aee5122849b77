// A kernel of your own that follows a frontier, as a command beside those of `edgewire`: the weakly connected
// components of a graph that stores every edge both ways. Each vertex takes the smallest id that it hears of,
// and tells its neighbours as long as its own has changed.
//   c++ -O3 components.cpp $(pkg-config --cflags --libs edgewire) -o cc && ./cc components g.ew -p 2 --verify
#include <edgewire/error.h>
#include <edgewire/own_kernel.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace edgewire;

namespace {

/// Returns the labels of the owned vertices, by local number. In every process.
std::vector<PlainId> components(FrontierJob<PlainId>& job) {
  if (!job.graph().symmetric())
    throw Error(job.graph().path() + ": its edges are not stored both ways; convert it with --undirected");
  std::vector<PlainId> labels(job.known());  // of boundary vertices: the smallest that was told
  for (KnownNumber v{}; v < job.known(); ++v) labels[v] = job.vertex(v);
  job.settle(
      job.all(),
      [&](const FrontierRow& row, const auto& tell) {
        const PlainId label = std::atomic_ref(labels[row.vertex]).load(std::memory_order_relaxed);
        for (const KnownNumber target : row.targets) tell(target, label);
      },
      [&](KnownNumber v, PlainId label) { return lower(labels[v], label); },
      [&](KnownNumber v) { return labels[v]; });
  labels.resize(job.owned());
  return labels;
}

/// Joins the sets at both ends of each edge, and looks whether the smallest vertex of each set is its label.
/// --verify calls it.
std::string fault(const Graph& graph, std::span<const PlainId> labels) {
  std::vector<PlainId> above(labels.size());  // [vertex]: a smaller one of its set, or itself
  std::iota(above.begin(), above.end(), PlainId{0});
  const auto smallest = [&](PlainId v) {
    while (above[v] != v) v = above[v] = above[above[v]];
    return v;
  };
  for (VertexId v{}; v < graph.vertices(); ++v)
    for (std::uint64_t edge = graph.offsets()[v]; edge < graph.offsets()[v + 1]; ++edge) {
      const auto [low, high] = std::minmax({smallest(v), smallest(graph.targets()[edge])});
      above[high] = low;
    }
  for (PlainId v = 0; v < labels.size(); ++v)
    if (labels[v] != smallest(v)) return "vertex " + std::to_string(v) + " is in another component";
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  OwnSearch<PlainId, PlainId> search;
  search.words = {.name = "components",
                  .summary = "compute the components of a graph that stores every edge both ways",
                  .value = "component"};
  search.values = components;
  search.fault = fault;
  return run_command_line(argc, argv, {own_kernel(search)});
}
