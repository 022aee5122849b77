// The core number of each vertex, as a command beside those of `edgewire`: the largest k for which the vertex
// is in a part of the graph where each one has at least k neighbours (Seidman: "Network structure and minimum
// degree", Social Networks 5, 1983). Vertices with fewer than k neighbours are taken away, and with them
// those that then have fewer, for k = 1, 2 and so on.
//   c++ -O3 k_core.cpp $(pkg-config --cflags --libs edgewire) -o core && ./core core g.ew -p 2 --verify
#include <edgewire/error.h>
#include <edgewire/own_kernel.h>

#include <atomic>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace edgewire;

namespace {

/// Returns the core numbers of the owned vertices, by local number. In every process.
std::vector<double> cores(FrontierJob<std::uint32_t>& job) {
  if (!job.graph().symmetric() || !job.graph().simple())
    throw Error(job.graph().path() +
                ": it has loops, or edges twice or one way; convert it with --simple --undirected");
  std::vector<std::uint32_t> degrees(job.owned());
  std::vector<LocalNumber> left = job.all(), peeled;
  for (const LocalNumber v : left) degrees[v] = static_cast<std::uint32_t>(job.degree(v));
  std::vector<double> cores(job.owned(), -1);
  for (std::uint32_t k = 1; job.sum(left.size()) > 0; ++k) {
    peeled.clear();
    for (const LocalNumber v : left)
      if (degrees[v] < k) peeled.push_back(v);
    job.settle(
        peeled,
        [&](const FrontierRow& row, const auto& tell) {
          cores[row.vertex] = k - 1;
          for (const KnownNumber target : row.targets) tell(target, 1);
        },
        [&](KnownNumber v, std::uint32_t neighbours) {
          if (v >= job.owned()) return true;  // its owner counts
          return std::atomic_ref(degrees[v]).fetch_sub(neighbours, std::memory_order_relaxed) == k;
        });
    std::erase_if(left, [&](LocalNumber v) { return cores[v] >= 0; });
  }
  return cores;
}

/// Takes away the vertex with the fewest neighbours, one after the other (Batagelj, Zaversnik: "An O(m)
/// algorithm for cores decomposition of networks", 2003), and compares. --verify calls it.
std::string fault(const Graph& graph, std::span<const double> cores) {
  std::vector<std::uint64_t> degrees;
  std::set<std::pair<std::uint64_t, PlainId>> left;  // by their neighbours that are left
  for (VertexId v{}; v < graph.vertices(); ++v) {
    degrees.push_back(graph.offsets()[v + 1] - graph.offsets()[v]);
    left.emplace(degrees[v], v);
  }
  for (std::uint64_t core = 0; !left.empty();) {
    const auto [degree, v] = *left.begin();
    left.erase(left.begin());
    core = std::max(core, degree);
    if (cores[v] != static_cast<double>(core))
      return "vertex " + std::to_string(v) + " has another core number";
    for (std::uint64_t edge = graph.offsets()[v]; edge < graph.offsets()[v + 1]; ++edge)
      if (const PlainId u = graph.targets()[edge]; left.erase({degrees[u], u}) > 0)
        left.emplace(--degrees[u], u);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  OwnSearch<std::uint32_t, double> search;
  search.words = {.name = "core", .summary = "compute the core number of each vertex", .value = "core"};
  search.values = cores;
  search.fault = fault;
  return run_command_line(argc, argv, {own_kernel(search)});
}
