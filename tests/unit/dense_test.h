// Runs of dense kernels over small graphs, in one process.
#pragma once

#include <vector>

#include "dense/job/dense_job.h"
#include "graph_test.h"
#include "kernels/runs.h"
#include "launch/bootstrap.h"

namespace edgewire::kernels {

struct File : graph::BuiltGraph {
  File(std::uint32_t vertices, const std::vector<graph::Edge>& edges, bool weighted)
      : BuiltGraph(vertices, edges, {.weighted = weighted}) {}
};

/// The values by vertex, and the totals of the last iteration.
template <class P>
std::vector<double> run(const Graph& graph, P program, int iterations, typename P::Totals* last = nullptr) {
  const auto bootstrap = launch::alone();
  job::DenseOptions options;
  options.weighted = graph.weighted();
  options.encoding = sizeof(typename P::Message) == 8 ? plan::Encoding::f64 : plan::Encoding::f32;
  DenseJob job(*bootstrap, graph, options);
  DenseRun run(job, program);
  run.iterate({.iterations = iterations});
  std::vector<double> values(graph.vertices());
  for (OwnedIndex i{}; i < values.size(); ++i) values[job.owned().ids()[i]] = run.values()[i];
  if (last != nullptr) *last = run.totals();
  return values;
}

}  // namespace edgewire::kernels
