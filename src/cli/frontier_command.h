// This file has what the commands of all frontier kernels share: options, the processes, output.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/kernel_options.h"
#include "runs/kernels.h"

namespace edgewire::cli {

/// What help says of a kernel: at its end, and about -o, --verify and --top, see
/// KernelOptions::add_output_options().
struct FrontierWords {
  std::string footer, output, verify, listed;
  std::uint64_t listed_by_default = 0;
};

/// Adds the graph, then `own` (the kernel's options), processes and output.
void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words);
/// This makes the kernel of a process.
using MakeKernel = std::function<std::unique_ptr<runs::Kernel>()>;
/// Runs the job and returns when all processes have ended. `prepare`: looks once at what was asked for,
/// before the processes start; what is wrong is then said once. Throws Error or UsageError.
void run_frontier(const KernelOptions& options,
                  const std::function<MakeKernel(const graph::GraphFile&)>& prepare);

}  // namespace edgewire::cli
