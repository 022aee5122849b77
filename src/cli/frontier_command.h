// This file has what the commands of all kernels share that follow a frontier: their options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
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

}  // namespace edgewire::cli
