// This file makes the part of a report that all jobs have in common from what their processes say of
// themselves.
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

/// What a process says of itself at the end of a job.
struct ProcessFigures {
  double seconds_load = 0, seconds_plan = 0, seconds_total = 0;
  std::uint64_t checksum = 0;  ///< checksum of its part of the result
};

/// Returns the report of all processes at rank 0; elsewhere it returns what concerns this process only.
/// `reason`: why the transport was chosen. Processes that were lost add nothing. Collective; throws Error
/// when the job fails.
report::JobReport gather_job(launch::Bootstrap& bootstrap, const process::LocalProcess& process,
                             const std::string& reason, const ProcessFigures& mine);

/// Returns what the processes of a job read from disks, at rank 0; elsewhere nothing. Processes run at the
/// same time; those of a host share its devices. `files`: what was read. `watch`: has watched since before
/// that. Collective.
report::RunReport::Disk gather_disk(launch::Bootstrap& bootstrap, const disk::SegmentFiles& files,
                                    const disk::ReadFigures& mine, profile::BalanceWatch& watch);

}  // namespace edgewire::runs
