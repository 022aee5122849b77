// This file gathers what sort and convert in parts say of their disks, wires and cores, and of their workers
// if they are profiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "profile/balance.h"
#include "profile/profile.h"
#include "report/job_report.h"

namespace edgewire::profile {

/// One process's part of the watch. It looks at the job's process, so it goes before the job.
class LoadWatch {
 public:
  /// Begins just before the job runs, when its links are connected. `paths` are those that the job reads and
  /// writes. `profiled`: whether its workers are profiled, too. Collective; throws Error.
  LoadWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
            const std::vector<std::string>& paths, const ProfileOptions& options, bool profiled);

  /// Ends a step. The thread that runs the job calls it, while its workers rest.
  void end_step(const std::string& name);
  void end_run() { run_.reset(); }

  /// Returns the time that BalanceWatch tells.
  double disk_s() const { return balance_.disk_s(); }
  /// Returns the balance, after end_run(). Adds the profile to the report of rank 0, if there is one.
  /// Collective.
  Balance gather(report::JobReport& report, const ProcessFacts& facts);

 private:
  std::optional<Profiler> profiler_;
  BalanceWatch balance_;
  std::optional<ProfiledRun> run_;
};

}  // namespace edgewire::profile
