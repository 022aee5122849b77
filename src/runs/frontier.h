// This file runs a kernel that follows a frontier.
#pragma once

#include <functional>

#include "edgewire/graph.h"
#include "frontier/frontier_job.h"
#include "graph/vertex_names.h"
#include "launch/bootstrap.h"
#include "report/run_report.h"
#include "runs/kernel.h"
#include "runs/tools.h"

namespace edgewire::runs {

struct FrontierOptions {
  /// The options of the job. run_frontier() sets what the kernel says itself (record_bytes, for_tasks,
  /// kernel, disks.weighted).
  frontier::Options job{};
  Tools tools{};
  /// This is called in all processes after each run. The kernel has its result; at rank 0 it has that of all
  /// vertices where `tools` asks for that.
  std::function<void(frontier::FrontierJob& job, Kernel& kernel, std::size_t run)> finished{};
};

/// Runs the kernel as often as it asks for. Returns the report, complete at rank 0. Throws Error, also where
/// a result is wrong that was to be verified. Collective.
report::RunReport run_frontier(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                               const graph::VertexNames& names, Kernel& kernel,
                               const FrontierOptions& options);

}  // namespace edgewire::runs
