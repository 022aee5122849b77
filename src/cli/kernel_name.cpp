#include "cli/kernel_name.h"

#include <vector>

#include "kernels/count.h"

namespace edgewire::cli {

namespace {

/// What is wrong with a name that another part of this program knows; else empty.
std::string other_command(const std::string& name) {
  if (name == "sort" || name == "convert")
    return name + " is no kernel on a graph: edgewire bound --load " + name + " predicts its time";
  if (name == "tasks")
    return "tasks is no kernel on a graph, and what tasks send depends on who is idle: edgewire tasks metg "
           "measures them";
  return {};
}

}  // namespace

void add_kernel_name(CLI::App& command, std::string& kernel, const std::string& help) {
  std::vector<std::string> names(kernels::kDenseKernels.begin(), kernels::kDenseKernels.end());
  names.insert(names.end(), kernels::kFrontierKernels.begin(), kernels::kFrontierKernels.end());
  command.add_option("--kernel", kernel, help)
      ->check(other_command)
      ->check(CLI::IsMember(names))
      ->capture_default_str();
}

}  // namespace edgewire::cli
