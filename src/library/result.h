// This file runs a kernel for a caller, from the options that callers have to the result that they get.
#pragma once

#include <memory>

#include "edgewire/kernels.h"
#include "runs/kernel.h"

namespace edgewire {

/// Runs the kernel. Throws UsageError where the job has options that the kernel has not. Values are double,
/// PlainId or std::uint64_t, see runs::values_as(). Collective.
template <class Value>
Result<Value> run_for_caller(launch::Bootstrap& bootstrap, const Graph& graph,
                             const std::unique_ptr<runs::Kernel>& kernel, const JobOptions& job);

}  // namespace edgewire
