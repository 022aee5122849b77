// This file gathers the use of disks, wires and cores by sort and convert in parts, and of their workers if
// they are profiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/job_options.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "profile/balance.h"
#include "profile/profile.h"
#include "report/job_report.h"

namespace edgewire::cli {

/// One process's part of the watch. It refers to the job's process, so it ends before the job.
class LoadWatch {
 public:
  /// Begins just before the job runs, when its links are connected. `paths` are those that the job reads and
  /// writes. `items`: the name of the loaded items, for profiles. Collective; throws Error.
  LoadWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
            const std::vector<std::string>& paths, const JobOptions& options, const std::string& items);

  /// Ends a step. The thread that runs the job calls it, while its workers rest.
  void end_step(const std::string& name);
  void end_run() { run_.reset(); }

  /// Returns the time of profile::BalanceWatch.
  double disk_s() const { return balance_.disk_s(); }
  /// Returns the balance, after end_run(). Adds the profile to the report of rank 0, if there is one.
  /// Collective.
  profile::Balance gather(report::JobReport& report, const profile::ProcessFacts& facts);

 private:
  std::optional<profile::Profiler> profiler_;
  profile::BalanceWatch balance_;
  std::optional<profile::ProfiledRun> run_;
};

}  // namespace edgewire::cli
