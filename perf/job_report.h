// The run report of a job with a dense kernel, from the figures of its processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "disk/read_figures.h"
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

/// Adds the figures of a process to those of the job. Processes run at the same time; those of a host share
/// its devices.
void add_disk(report::RunReport::Disk& disk, const disk::ReadFigures& one);

}  // namespace edgewire::perf
