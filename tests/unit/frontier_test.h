// Runs of kernels that follow a frontier, in processes that are threads of the test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstraps.h"
#include "frontier/frontier_job.h"
#include "graph_test.h"
#include "transport_fixture.h"

namespace edgewire::frontier {

/// The cut of a job.
struct JobCut {
  int processes = 1, workers = 1;
  std::string transport = "shm", ownership = "hash";
  /// Whether processes have hosts of their own: rows come from the processes that have read them.
  bool hosts = false;

  std::string label() const {
    return std::to_string(processes) + " x " + std::to_string(workers) + ", " + transport + ", " + ownership +
           (hosts ? ", hosts" : "");
  }
};
inline const std::vector<JobCut> kJobCuts{{},
                                          {.workers = 2},
                                          {.processes = 2, .ownership = "ranges"},
                                          {.processes = 2, .workers = 2},
                                          {.processes = 3, .workers = 2, .hosts = true}};

/// Calls work(job) in each process. `options`: those beside the cut.
template <class Work>
void run_in_each(const Graph& graph, const JobCut& cut, Options options, const Work& work) {
  options.process.workers = cut.workers;
  options.process.transport = cut.transport;
  options.ownership = cut.ownership;
  options.kernel = "test";
  options.rows = RowReading::shares;
  const auto bootstraps = launch::bootstraps(cut.processes, cut.hosts);
  transport::parallel(cut.processes, [&](int p) {
    Job job(*bootstraps[static_cast<std::size_t>(p)], graph, options);
    work(job);
  });
}

/// Puts the values of a process's vertices, by local number, among the values of all, by vertex.
template <class Mine, class Value>
void put(const Job& job, const Mine& mine, std::vector<Value>& all) {
  transport::require(mine.size() == job.owned() && all.size() == job.graph().vertices(), "other vertices");
  for (LocalNumber local{}; local < job.owned(); ++local)
    all[job.ownership().vertex(job.rank(), local)] = mine[local];
}

}  // namespace edgewire::frontier
