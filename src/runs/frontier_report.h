// This file makes the report of a kernel that follows a frontier from what all processes have measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/run_report.h"
#include "runs/kernel.h"
#include "runs/least_records.h"

namespace edgewire::runs {

/// The supersteps, times and checksum of all runs of one process.
struct FrontierRuns {
  std::vector<frontier::Superstep> supersteps;  ///< supersteps of all runs
  std::vector<std::size_t> ends;                ///< [run]: end of its supersteps
  std::vector<double> seconds;                  ///< [run]
  double seconds_kernel = 0;                    ///< time of all runs, which may overlap
  std::uint64_t checksum = 0;
  std::vector<report::Answer> answers;  ///< [run]: at rank 0
  /// [run]: what the run had to send at least, at rank 0, where that was asked for; else empty.
  std::vector<std::optional<LeastRecords>> least;

  void add(const std::vector<frontier::Superstep>& steps, double seconds_of_run) {
    supersteps.insert(supersteps.end(), steps.begin(), steps.end());
    ends.push_back(supersteps.size());
    seconds.push_back(seconds_of_run);
  }
  std::span<const frontier::Superstep> last() const {
    const std::size_t begin = ends.size() > 1 ? ends[ends.size() - 2] : 0;
    return std::span(supersteps).subspan(begin);
  }
};

/// Returns the report of all processes at rank 0. Collective.
report::RunReport gather_report(frontier::FrontierJob& job, const Kernel& kernel, const FrontierRuns& runs,
                                double seconds_total, const std::string& transport_reason);

}  // namespace edgewire::runs
