// edgewire bound without a graph: the memory that a run on a graph of a given size would take.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/bound_load.h"

namespace edgewire::cli {

/// Whether `bound` was asked for that: it has a number of vertices, and neither a graph nor a load.
bool wants_memory(const LoadArguments& arguments, const std::vector<std::string>& inputs);
/// Prints the table, or JSON, as run_load_bound() does. `processes`: ascending. Throws Error.
void run_memory_bound(const CLI::App& command, const LoadArguments& arguments, const std::string& kernel,
                      const std::vector<int>& processes, const std::string& json_path);

}  // namespace edgewire::cli
