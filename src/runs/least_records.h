// This file counts what runs of a kernel that follows a frontier had to send at least. It counts in
// sequence, by other code than the kernel's (kernels/count.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/count.h"
#include "partition/ownership.h"
#include "report/run_report.h"

namespace edgewire::runs {

class Kernel;

/// What one run had to send at least.
struct LeastRecords {
  std::map<std::string, std::uint64_t> bytes;  ///< [phase of a superstep]: bytes of records
  kernels::Exactness exactness = kernels::Exactness::exact;
};

/// Counts for the run that was last; returns nothing where nobody counts it. One process does that, by
/// itself: time and memory are those of `edgewire bound`.
std::optional<LeastRecords> count_records(const Kernel& kernel, const graph::GraphFile& graph,
                                          const partition::Ownership& ownership);

/// Adds to a report with all supersteps what was counted of each run. `ends`: [run], the end of its
/// supersteps.
void add_least(report::RunReport& report, const std::vector<std::size_t>& ends,
               const std::vector<std::optional<LeastRecords>>& runs);

}  // namespace edgewire::runs
