// A kernel of your own that follows a frontier, run by two processes of this machine: the weakly connected
// components of a graph that stores every edge both ways. Each vertex takes the smallest id that it hears of,
// and tells its neighbours as long as its own has changed.
//   c++ -O3 components.cpp $(pkg-config --cflags --libs edgewire) -o cc && ./cc g.ew
#include <edgewire/frontier.h>
#include <edgewire/graph.h>
#include <edgewire/launch.h>

#include <cstdio>
#include <exception>
#include <vector>

using namespace edgewire;

namespace {

/// In every process, on one worker. `labels`: of the owned vertices, by local number.
std::vector<PlainId> components(frontier::FrontierJob& job) {
  const partition::Ownership& owners = job.ownership();
  std::vector<PlainId> labels;
  std::vector<LocalNumber> frontier, next;
  for (LocalNumber v{}; v < job.owned(); ++v) {
    labels.push_back(owners.vertex(job.rank(), v));
    frontier.push_back(v);
  }
  std::vector<VertexId> room;
  const auto hear = [&](LocalNumber v, PlainId label) {
    if (label >= labels[v]) return;
    labels[v] = label;
    next.push_back(v);
  };
  const auto take = [&](const frontier::Record& record) { hear(frontier::local_of(record), record.value); };
  for (std::array changed{std::uint64_t{1}}; changed[0] > 0;) {
    for (const LocalNumber v : frontier)
      for (const VertexId target : job.ids_of(v, room)) {
        const auto [owner, local] = owners.place(target);
        if (owner == job.rank())
          hear(local, labels[v]);
        else
          job.records().send(0, static_cast<int>(owner), frontier::Record{PlainId{local}, labels[v]}, take);
      }
    job.records().finish<frontier::Record>(0, take);  // now all that was sent to this process was taken
    frontier.swap(next);
    next.clear();
    changed = job.sum_of_all(std::array{std::uint64_t{frontier.size()}});
  }
  return frontier::gather_values(job, labels);
}

void run(launch::Bootstrap& bootstrap, const char* path) {
  const auto graph = graph::GraphFile::open(path);
  if (!graph.symmetric()) throw Error(std::string(path) + ": edges are not stored both ways");
  frontier::FrontierJob job(bootstrap, graph, {.kernel = "components"});
  const std::vector<PlainId> labels = components(job);  // of all vertices, at rank 0
  for (VertexId v{}; v < labels.size(); ++v)
    std::printf("%llu\t%llu\n", static_cast<unsigned long long>(graph.original_id(v)),
                static_cast<unsigned long long>(graph.original_id(VertexId(labels[v]))));
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
