// The vertices of highest rank, by two processes of this machine: what a C++ program does with libedgewire.
//   c++ -std=c++20 top_ranks.cpp $(pkg-config --cflags --libs edgewire) -o top_ranks && ./top_ranks g.ew
#include <edgewire/graph.h>
#include <edgewire/job.h>
#include <edgewire/kernels.h>
#include <edgewire/launch.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

using namespace edgewire;

namespace {

/// In every process: prints the best of the vertices that it owns.
void run(launch::Bootstrap& bootstrap, const char* path) {
  const auto graph = graph::GraphFile::open(path);
  job::DenseOptions options;
  options.strategy = plan::Strategy::cover;
  job::DenseJob job(bootstrap, graph, options);
  kernels::PageRank<float> pagerank({}, graph.vertices());
  job::DenseRun run(job, pagerank);
  run.iterate({});

  const auto ranks = run.values();
  std::vector<std::size_t> best(ranks.size());
  std::iota(best.begin(), best.end(), std::size_t{0});
  const auto end = best.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(best.size(), 3));
  std::partial_sort(best.begin(), end, best.end(),
                    [&](std::size_t a, std::size_t b) { return ranks[a] > ranks[b]; });
  for (auto i = best.begin(); i != end; ++i) {
    std::printf("process %d: vertex %llu, rank %.6f\n", bootstrap.rank(),
                static_cast<unsigned long long>(graph.original_id(job.owned().ids()[*i])), ranks[*i]);
  }
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
