#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "launch/agreement.h"

namespace edgewire::cli {

/// Returns what must be the same in all processes of a job, however they were started: the command, the
/// version, whether the run is profiled, and all options except those that belong to a host or to rank 0
/// alone. It tells whether an option names a file, but not which one. `command` has been parsed.
std::vector<launch::Fact> alike(const CLI::App& command);

}  // namespace edgewire::cli
