// The vertices of highest rank, by two processes of this machine: what a C++ program does with libedgewire.
//   c++ top_ranks.cpp $(pkg-config --cflags --libs edgewire) -o top_ranks && ./top_ranks g.ew
#include <edgewire/graph.h>
#include <edgewire/kernels.h>
#include <edgewire/launch.h>

#include <cstdio>
#include <exception>
#include <variant>

using namespace edgewire;

namespace {

/// In every process; rank 0 has the ranks of all vertices, the answer and the report, and prints the best.
void run(launch::Bootstrap& bootstrap, const char* path) {
  const auto graph = graph::GraphFile::open(path);
  runs::DenseOptions options;
  options.job.strategy = plan::Strategy::cover;
  options.tools.top = 3;
  const auto found = runs::pagerank(bootstrap, graph, {.iterations = 20}, options);
  if (bootstrap.rank() > 0) return;
  for (const auto& [vertex, rank] : *found.report.answer.top)
    std::printf("vertex %s, rank %.6f\n", vertex.text.c_str(), std::get<double>(rank));
  std::printf("%zu ranks; an iteration had to send %llu bytes\n", found.values.size(),
              static_cast<unsigned long long>(found.report.bound.payload_bytes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s GRAPH.ew\n", argv[0]);
    return 2;
  }
  try {
    launch::LaunchOptions options;
    options.processes = 2;
    return launch::run(options, [&](launch::Bootstrap& bootstrap) { run(bootstrap, argv[1]); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
