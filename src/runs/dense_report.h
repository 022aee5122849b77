// This file makes the run report of a job with a dense kernel from the figures of its processes.
#pragma once

#include <cstdint>
#include <vector>

#include "dense/engine/recorder.h"
#include "dense/job/dense_job.h"
#include "report/run_report.h"

namespace edgewire::runs {

/// Returns the report of all processes at rank 0, without what is the kernel's own; elsewhere it returns the
/// report of this process only. `seconds_total`, `checksum`: those of this process. Collective.
report::RunReport gather_report(const job::DenseJob& job, const job::DenseOptions& options,
                                const std::vector<engine::IterationRecord>& mine, double seconds_total,
                                std::uint64_t checksum);

}  // namespace edgewire::runs
