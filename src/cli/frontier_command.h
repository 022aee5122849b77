// This file has the common options of the commands whose kernels follow a frontier.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/kernel_options.h"
#include "runs/kernels.h"

namespace edgewire::cli {

/// The texts of a kernel's help, and those for KernelOptions::add_output_options().
struct FrontierWords {
  std::string footer, output, verify, listed;
  std::uint64_t listed_by_default = 0;
  bool of_house = true;  ///< whether it has --deterministic and --bound
};

/// The text of -o for kernels whose values are labels.
inline constexpr const char* kLabelsOutput =
    "the labels to this file as lines of id, tab and the label, an id as well";

/// Adds the graph, then `own` (the kernel's options), processes and output.
void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words);

/// Adds a command without options of its own; returns its settings. `on_disks`: whether edges may be there.
KernelOptions& add_frontier_kernel(
    CLI::App& app, const std::string& name, const std::string& description, const FrontierWords& words,
    bool on_disks, const std::function<std::unique_ptr<runs::Kernel>(const KernelOptions&)>& make);

}  // namespace edgewire::cli
