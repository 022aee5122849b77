// This file has the options that all jobs share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/output_folder.h"
#include "cli/option.h"
#include "launch/agreement.h"
#include "launch/start.h"
#include "process/local_process.h"
#include "profile/profile.h"
#include "report/job_report.h"

namespace edgewire::cli {

/// Adds -q, which silences show() and note().
CLI::Option* add_quiet_option(CLI::App& command);
/// Adds --json and -q. Returns the option -q. `what`: the output of --json, such as "run report".
CLI::Option* add_report_options(CLI::App& command, std::string& path, const std::string& what);

/// Returns the facts that must be the same in all processes of a job, however they were started: the command,
/// the version, whether the run is profiled, and all options except those that belong to a host or to rank 0
/// alone. They tell whether an option names a file, but not which one. `command` has been parsed.
std::vector<launch::Fact> alike(const CLI::App& command);
void add_launch_options(CLI::App& command, launch::StartOptions& options);
/// Adds the options of transports: --transport and --integrity, and those of verbs and dpdk.
void add_transport_options(CLI::App& command, process::ProcessOptions& process);
/// Prints a warning on stderr, as ProcessOptions::warn.
void warn_on_stderr(const std::string& line);

/// Returns the memory in bytes that each process takes without --memory, in a job that spills to disk what
/// does not fit. It is the smallest usual_share() of all processes, but at least `least`, so that small
/// inputs still fit. It is the same in all processes. Collective.
std::uint64_t usual_memory(launch::Bootstrap& bootstrap, std::uint64_t least = 0);
/// Returns three quarters of a process's share of `available_bytes`, but at most 1G. The last quarter is for
/// the program and for blocks of files. The result is rounded down to MiB.
std::uint64_t usual_share(std::uint64_t available_bytes, int processes_of_host) noexcept;

/// The options of every command that runs as a job: its processes, their workers, and their transport.
struct JobOptions {
  launch::StartOptions launch;
  /// The options of a process as they were given. `workers` 0: share the cores among those of this host.
  process::ProcessOptions process_asked{.workers = 0, .transport = "auto"};
  std::string json_path;
  bool profile = false;
  std::string profile_path, trace_path;
  double sample_interval_s = 0.1;

  bool profiled() const { return profile || !profile_path.empty() || !trace_path.empty(); }
  /// Returns whether no output goes to stdout, so that the report can.
  bool stdout_is_free() const { return json_path != "-" && profile_path != "-" && trace_path != "-"; }
  /// Adds all options but --json and those of profiles. A command that has --workers keeps its own.
  void add_to(CLI::App& command);
  /// Returns the options of one process as process::settle() does; rank 0 warns on stderr. Collective.
  process::ProcessOptions process(launch::Bootstrap& bootstrap) const;
};

/// Adds --profile, --profile-page, --trace and --sample-interval.
void add_profile_options(CLI::App& command, JobOptions& options);
/// Returns the settings of a profile. `words`: see profile::ProfileOptions.
profile::ProfileOptions profile_options(const JobOptions& options, const profile::Words& words = {});
/// Throws Error when report, page or trace cannot be written. Rank 0 calls it before the run.
void check_report_files(const JobOptions& options);
/// Writes page, with this title, and trace of the run that has this report, at rank 0, where they are wanted.
void write_profile_files(const report::JobReport& report, const JobOptions& options,
                         const std::string& title);

/// Runs a job as launch::run does. Throws CLI::RuntimeError where the job fails. Where a process fails after
/// a file that it has mapped was written anew, the message gives this as the cause.
void run_job(const launch::StartOptions& options, const std::function<void(launch::Bootstrap&)>& body);
/// Does the same for a `body` that makes a folder by process::make_folder(). The parent of a local job makes
/// it before, and removes it, if it is empty, also where all processes are lost.
void run_job_into(const std::string& folder, OutputFolder::Parents parents, launch::StartOptions options,
                  const std::function<void(launch::Bootstrap&)>& body);

}  // namespace edgewire::cli
