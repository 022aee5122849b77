// Where the paths of bfs and sssp start.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_file.h"
#include "report/run_report.h"

namespace edgewire::cli {

/// One vertex, or several: then the kernel runs from each, one after the other.
struct Sources {
  std::string one, list;                ///< as they were asked for; one of them is empty
  std::vector<std::uint32_t> vertices;  ///< a run from each
  std::vector<std::string> names;       ///< of `vertices`, where a list was asked for

  void add_to(CLI::App& command);
  /// Sets `vertices` and `names`. Throws Error or UsageError that names the option.
  void find(const graph::GraphFile& graph);
  /// For the report.
  std::pair<std::string, report::RunReport::Option> option() const;
};

}  // namespace edgewire::cli
