#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "launch/agreement.h"

namespace edgewire::cli {

/// What must be the same in all processes of a job, however they were started: the command, the version, and
/// the options that say what is computed and how processes talk. Paths, devices and what only rank 0 writes
/// may differ. `command` has been parsed.
std::vector<launch::Fact> alike(const CLI::App& command);

}  // namespace edgewire::cli
