// What generate, convert and info have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "graph/builder.h"
#include "graph/parallel.h"

namespace edgewire::cli {

/// The options of every subcommand that writes a graph.
struct GraphOutput {
  std::string path;
  bool simple = false;
  bool undirected = false;
  int workers = 0;

  void add_to(CLI::App& command);
};

/// Shows how far a step has come, on a terminal.
graph::Progress graph_progress();

/// One line for people, on stdout.
void print_summary(const std::string& path, const graph::BuildSummary& summary,
                   std::chrono::steady_clock::time_point start);

}  // namespace edgewire::cli
