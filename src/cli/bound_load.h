// This file has edgewire bound --load, which predicts how long a sort or a conversion takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "bounds/load_bound.h"

namespace edgewire::cli {

/// The options that only --load has.
struct LoadArguments {
  std::string load;  ///< sort or convert; empty: not asked for
  bounds::LoadTask task{};
  std::string edges, vertices, disk_read_rate, disk_write_rate, core_rate, temp = ".";

  void add_to(CLI::App& command);
  /// Throws UsageError where options of one kind meet the other.
  void check(const CLI::App& command) const;
  /// Prints the prediction, and writes JSON to `json_path` ("-": stdout, instead of the table; "": none). The
  /// task has its options, inputs and cores. Throws Error.
  void run(const std::string& json_path);
};

}  // namespace edgewire::cli
