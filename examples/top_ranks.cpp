// The vertices of highest rank, by two processes of this machine: what a C++ program does with libedgewire.
//   c++ top_ranks.cpp $(pkg-config --cflags --libs edgewire) -o top_ranks && ./top_ranks g.ew
#include <edgewire/convert.h>
#include <edgewire/kernels.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>

using namespace edgewire;

namespace {

/// In every process; rank 0 has the ranks of all vertices and the report, and prints the best.
void run(launch::Bootstrap& bootstrap, const char* path) {
  const auto graph = Graph::open(path);
  const auto found = pagerank(bootstrap, graph, {.iterations = 20}, {.strategy = Strategy::cover});
  if (bootstrap.rank() > 0) return;
  const std::vector<double>& ranks = found.values;
  std::vector<VertexId> best(ranks.size(), VertexId{0});
  std::iota(best.begin(), best.end(), VertexId{0});
  const auto end = best.begin() + std::min<std::ptrdiff_t>(3, std::ssize(best));
  std::partial_sort(best.begin(), end, best.end(),
                    [&](VertexId a, VertexId b) { return ranks[a] > ranks[b]; });
  best.erase(end, best.end());
  const auto names = names_of(graph, best);
  for (std::size_t i = 0; i < best.size(); ++i)
    std::printf("vertex %s, rank %.6f\n", names[i].c_str(), ranks[best[i]]);
  std::printf("%zu ranks; an iteration had to send %llu bytes\n", ranks.size(),
              static_cast<unsigned long long>(found.report.required_bytes / found.report.steps));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: %s GRAPH.ew\n", argv[0]);
    return 2;
  }
  try {
    launch::LaunchOptions options;
    options.processes = 2;
    launch::run(options, [&](launch::Bootstrap& bootstrap) { run(bootstrap, argv[1]); });
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
