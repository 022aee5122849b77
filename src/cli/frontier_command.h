// This file has what the commands of all kernels share that follow a frontier: their options.
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
  bool of_house = true;  ///< it has --deterministic, and --bound
};

/// Text about -o of kernels whose values are labels.
inline constexpr const char* kLabelsOutput =
    "the labels to this file as lines of id, tab and the label, an id as well";

/// Adds the graph, then `own` (the kernel's options), processes and output.
void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words);

/// Adds a command without options of its own, and returns what it is asked. `on_disks`: its edges may be on
/// disks. `make`: makes the kernel.
KernelOptions& add_frontier_kernel(
    CLI::App& app, const std::string& name, const std::string& description, const FrontierWords& words,
    bool on_disks, const std::function<std::unique_ptr<runs::Kernel>(const KernelOptions&)>& make);

}  // namespace edgewire::cli
