#pragma once

#include <CLI/CLI.hpp>

namespace edgewire::cli {

/// Adds `tasks metg`.
void add_metg(CLI::App& tasks);

}  // namespace edgewire::cli
