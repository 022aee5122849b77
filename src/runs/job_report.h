// This file makes the part of a report that all jobs have in common from the figures of their processes.
#pragma once

#include <cstdint>
#include <string>

#include "disk/read_probe.h"
#include "disk/segment_file.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "profile/balance.h"
#include "report/run_report.h"

namespace edgewire::runs {

/// The figures of a process at the end of a job.
struct ProcessFigures {
  double seconds_load = 0, seconds_plan = 0, seconds_total = 0;
  std::uint64_t checksum = 0;  ///< checksum of its part of the result
};

/// Returns the report of all processes at rank 0; elsewhere the part of this process. `reason`: that of the
/// choice of transport. Processes that were lost add nothing. Collective; throws Error when the job fails.
report::JobReport gather_job(launch::Bootstrap& bootstrap, const process::LocalProcess& process,
                             const std::string& reason, const ProcessFigures& mine);

/// Returns the figures of a job's reads from disks, at rank 0; elsewhere nothing. Processes of a host share
/// its devices. `files`: those that were read. `watch`: begun before the reads. Collective.
report::RunReport::Disk gather_disk(launch::Bootstrap& bootstrap, const disk::SegmentFiles& files,
                                    const disk::ReadFigures& mine, profile::BalanceWatch& watch);

}  // namespace edgewire::runs
