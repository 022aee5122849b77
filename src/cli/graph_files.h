// This file has the common part of commands that read graphs or write them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/output_file.h"
#include "base/parallel.h"
#include "base/seconds.h"
#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "graph/convert.h"
#include "graph/file/builder.h"

namespace edgewire::cli {

/// Adds the options of every subcommand that writes a graph: path and form.
void add_graph_output(CLI::App& command, std::string& path, bool& simple, bool& undirected, int& workers);

/// Prints one line for people on stdout.
void print_summary(const std::string& path, const graph::BuildSummary& summary, Clock::time_point start);

/// The way to read a graph in another format, with the same options in all commands that read graphs.
struct Reading : graph::ConvertOptions {
  Reading();
  void add_to(CLI::App& command);
};

/// Adds the graph that a command reads, and the options to read it. The next options are in the usual group.
void add_graph_input(CLI::App& command, std::string& path, Reading& reading);

/// The graph that a command works on.
struct OpenGraph {
  Graph file;
  std::optional<double> seconds_convert;  ///< time of converting, where the input was in another format
  std::unique_ptr<OutputFile> converted;
  std::unique_ptr<OutputFile> names;  ///< names of the vertices, where the input may have some
};

/// Opens a graph file (.ew), or converts a file in another format, with a line on stderr. The converted file
/// has no name, and goes with the processes that have it. "-" is stdin. `memory_bytes`: the memory for the
/// conversion, which spills to disk beyond it; 0: as much as it takes. Throws Error.
OpenGraph open_graph(const std::string& path, const Reading& reading, std::uint64_t memory_bytes = 0);
/// Opens the same graph, for use in this direction (see graph::view()).
OpenGraph open_graph(const std::string& path, const Reading& reading, graph::Direction direction,
                     std::uint64_t memory_bytes);
/// Converts `input` into a nameless file, and returns the graph.
Graph convert_to_temporary(const std::string& input, OutputFile& nameless,
                           const graph::ConvertOptions& options, graph::BuildSummary& summary);
/// The text of --help for an input that open_graph() opens.
inline constexpr const char* kGraphHelp =
    "a graph file (.ew), as convert and generate write it, or a file in another format that convert reads";

}  // namespace edgewire::cli
