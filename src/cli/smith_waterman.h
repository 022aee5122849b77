#pragma once

#include <CLI/CLI.hpp>

namespace edgewire::cli {

/// Adds `tasks smith-waterman`.
void add_smith_waterman(CLI::App& tasks);

}  // namespace edgewire::cli
