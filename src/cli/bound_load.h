// This file has edgewire bound --load, which says how long a sort or a conversion takes at least.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bounds/bound.h"

namespace edgewire::cli {

/// The options that only --load has.
struct LoadArguments {
  std::string load;  ///< sort or convert; empty: not asked for
  std::uint64_t bytes = 0;
  std::string edges, vertices;
  bool weighted = false, undirected = false, parts = false;
  double largest_share = 0;  ///< 0: as a sample of the input tells
  std::uint64_t record = 100;
  std::uint32_t partitions = 0;
  std::string disk_read_rate, disk_write_rate, core_rate;
  std::string temp = ".";

  void add_to(CLI::App& command);
  /// Throws UsageError where options of one kind meet the other.
  void check(const CLI::App& command) const;
};

/// Returns the number that a text such as 60G means. Throws UsageError.
std::uint64_t count_from(const std::string& text, const char* option);

/// Prints the table, and writes JSON to `json_path` ("-": stdout, instead of the table; "": none). It uses
/// the processes, workers, rates and framing of `options`. `cores`: the cores of a process. Throws Error.
void run_load_bound(const LoadArguments& arguments, const std::vector<std::string>& inputs,
                    const bounds::BoundOptions& options, int cores, const std::string& json_path);

}  // namespace edgewire::cli
