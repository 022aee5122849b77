// The options that all kernels share, and how they become a job.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "kernels/dense_job.h"
#include "launch/launch.h"
#include "report/run_report.h"

namespace edgewire::cli {

/// As CLI::Range, but "nan" is in no range.
CLI::Validator between(double least, double most);

/// The options of every command that runs as a job: where its processes are, and how they find each other.
void add_launch_options(CLI::App& command, launch::LaunchOptions& options);
void add_transport_option(CLI::App& command, std::string& transport);
void add_dpdk_options(CLI::App& command, transport::DpdkChoice& dpdk);
/// "auto" resolved for the hosts of this job. Throws UsageError when the transport does not reach them.
std::string transport_for(const std::string& transport, const launch::WireUp& wire);

struct JobOptions {
  std::string graph_path;
  launch::LaunchOptions launch;
  int workers = 0;  ///< 0: share the cores among the processes of this host
  std::string transport = "auto";
  std::string verbs_device;
  int verbs_traffic_class = 0;
  transport::DpdkChoice dpdk;
  std::string strategy = "auto";
  double compute_rate = 0;
  std::string encoding = "f32";
  std::string ownership = "hash";
  std::string layout = "auto";
  bool deterministic = false;
  std::string output_path;
  std::string json_path;
  bool verify = false;
  bool profile = false;
  std::string profile_path, trace_path;
  double sample_interval_s = 0.1;
  bool profiled() const { return profile || !profile_path.empty() || !trace_path.empty(); }

  void add_to(CLI::App& command);
  /// The same for one process, "auto" resolved. Warns on stderr (rank 0) where workers share cores. Throws
  /// UsageError.
  kernels::DenseOptions dense(launch::WireUp& wire) const;
};

/// What one process adds to the run report.
struct ProcessFigures {
  std::vector<engine::IterationRecord> iterations;
  double seconds_total = 0;
  std::uint64_t checksum = 0;
};

/// Gathers the figures of all processes at rank 0 (elsewhere the result holds this process's only).
/// Collective.
report::RunReport gather_report(launch::WireUp& wire, const kernels::DenseJob& job,
                                const kernels::DenseOptions& options, const std::string& kernel,
                                const ProcessFigures& figures);

/// All vertices' values by global id at rank 0, elsewhere empty; `values` are by index of the own vertices.
/// Collective.
std::vector<float> gather_values(launch::WireUp& wire, const kernels::DenseJob& job,
                                 std::span<const float> values);

/// Order-independent hash of the values of the own vertices; the sum over processes is the checksum of a
/// result.
std::uint64_t checksum(const kernels::DenseJob& job, std::span<const float> values);

}  // namespace edgewire::cli
