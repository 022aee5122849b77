// --kernel of the commands that count or compare runs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace edgewire::cli {

/// The name of a kernel on a graph, "pagerank" by default. Whoever names another command is told what counts
/// or measures that one.
void add_kernel_name(CLI::App& command, std::string& kernel, const std::string& help);

}  // namespace edgewire::cli
