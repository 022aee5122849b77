// This file gathers the facts of jobs for profiles.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dense/job/dense_job.h"
#include "disk/read_probe.h"
#include "frontier/frontier_job.h"
#include "profile/profile.h"

namespace edgewire::profile {

/// Returns the work of this process in an iteration. `disk`: its reads in `iterations`, with tiles on disks.
ProcessFacts facts_of(const launch::Bootstrap& bootstrap, const DenseJob& job, const disk::ReadFigures& disk,
                      std::size_t iterations);
/// Returns the work of this process in a superstep: the mean of `steps`, which are those of all runs. `disk`:
/// its reads in all of them, if rows are on disks. `at_rank_0`: whether only rank 0 has supersteps, which are
/// those of all processes; each process then counts as having done an equal share. Collective.
ProcessFacts facts_of(frontier::Job& job, std::span<const frontier::Superstep> steps,
                      const disk::ReadFigures& disk, bool at_rank_0);

/// The records and bytes that this process moved in a sort or a load, and the number of steps.
struct LoadWork {
  std::uint64_t records = 0;  ///< number of records that it read
  std::uint64_t bytes_read = 0, bytes_spilled = 0, bytes_written = 0;
  double disk_s = 0;  ///< time in which the busiest disk of its host was busy
  std::uint64_t steps = 1;
};
ProcessFacts facts_of(const LoadWork& work);

/// One process's part of watching a sort or a load in parts: the use of disks, wires and cores, and of its
/// workers if they are profiled. It refers to the job's process, so it ends before the job.
class LoadWatch {
 public:
  /// Begins just before the job runs, when its links are connected. `paths` are those that the job reads and
  /// writes. `profiled`: whether its workers are profiled, too. Collective; throws Error.
  LoadWatch(launch::Bootstrap& bootstrap, process::LocalProcess& process,
            const std::vector<std::string>& paths, const ProfileOptions& options, bool profiled);

  /// Ends a step. The thread that runs the job calls it, while its workers rest.
  void end_step(const std::string& name);
  void end_run() { run_.reset(); }

  /// Returns the time of BalanceWatch.
  double disk_s() const { return balance_.disk_s(); }
  /// Returns the balance, after end_run(). Adds the profile, if any, to the report of rank 0. Collective.
  Balance gather(report::JobReport& report, const ProcessFacts& facts);

 private:
  std::optional<Profiler> profiler_;
  BalanceWatch balance_;
  std::optional<ProfiledRun> run_;
};

}  // namespace edgewire::profile
