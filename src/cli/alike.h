#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "launch/agreement.h"

namespace edgewire::cli {

/// What must be the same in all processes of a job, however they were started: the command, the version, and
/// all options but those of a host or of rank 0 alone. Of files only whether they are named. `command` has
/// been parsed.
std::vector<launch::Fact> alike(const CLI::App& command);

}  // namespace edgewire::cli
