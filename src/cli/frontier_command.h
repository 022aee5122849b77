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
/// Runs the job and returns when all processes have ended. `make`: looks at what was asked for and makes the
/// kernel, which all processes inherit; so what is wrong is said once. Throws Error or UsageError.
void run_frontier(const KernelOptions& options,
                  const std::function<std::unique_ptr<runs::Kernel>(const graph::GraphFile&)>& make);

}  // namespace edgewire::cli
