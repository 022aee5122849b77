// The run report of a job with a dense kernel, from the figures of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/iteration.h"
#include "job/dense_job.h"
#include "launch/bootstrap.h"
#include "report/run_report.h"

namespace edgewire::perf {

/// What one process adds to the run report.
struct ProcessFigures {
  std::vector<engine::IterationRecord> iterations;
  double seconds_total = 0;
  std::uint64_t checksum = 0;
};

/// Gathers the figures of all processes at rank 0 (elsewhere the result holds this process's only).
/// Collective.
report::RunReport gather_report(launch::Bootstrap& bootstrap, const job::DenseJob& job,
                                const job::DenseOptions& options, const std::string& kernel,
                                const ProcessFigures& figures);

}  // namespace edgewire::perf
