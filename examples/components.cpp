// A kernel of your own that follows a frontier, run by two processes of this machine: the weakly connected
// components of a graph that stores every edge both ways. Each vertex takes the smallest id that it hears of,
// and tells its neighbours as long as its own has changed.
//   c++ -O3 components.cpp $(pkg-config --cflags --libs edgewire) -o cc && ./cc g.ew
#include <edgewire/error.h>
#include <edgewire/frontier.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using namespace edgewire;

namespace {

/// In every process. Returns the labels of all vertices, at rank 0.
std::vector<PlainId> components(launch::Bootstrap& bootstrap, const graph::GraphFile& graph) {
  FrontierJob<PlainId> job(bootstrap, graph, "components");
  std::vector<PlainId> labels;  // of the owned vertices, by local number
  std::vector<LocalNumber> frontier, next;
  for (LocalNumber v{}; v < job.owned(); ++v) {
    labels.push_back(job.vertex(v));
    frontier.push_back(v);
  }
  while (job.sum(frontier.size()) > 0) {
    job.superstep(
        frontier,
        [&](const FrontierRow& row, const auto& send) {
          for (const Home& target : row.targets) send(target, labels[row.vertex]);
        },
        [&](LocalNumber v, PlainId label) {
          if (label >= labels[v]) return;
          labels[v] = label;
          next.push_back(v);
        });
    frontier.swap(next);
    next.clear();
  }
  return job.gather(labels);
}

void run(launch::Bootstrap& bootstrap, const char* path) {
  const auto graph = graph::GraphFile::open(path);
  if (!graph.symmetric())
    throw Error(std::string(path) + ": its edges are not stored both ways; convert it with --undirected");
  const std::vector<PlainId> labels = components(bootstrap, graph);
  for (VertexId v{}; v < labels.size(); ++v)
    std::printf("%llu\t%llu\n", static_cast<unsigned long long>(graph.original_id(v)),
                static_cast<unsigned long long>(graph.original_id(VertexId(labels[v]))));
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
    return launch::run(options, [&](launch::Bootstrap& bootstrap) { run(bootstrap, argv[1]); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
