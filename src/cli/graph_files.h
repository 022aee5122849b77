// This file has what commands have in common that read graphs or write them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/output_file.h"
#include "base/parallel.h"
#include "base/seconds.h"
#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "graph/convert.h"
#include "graph/file/builder.h"

namespace edgewire::cli {

/// Adds the options of every subcommand that writes a graph: to which path, and how.
void add_graph_output(CLI::App& command, std::string& path, bool& simple, bool& undirected, int& workers);

/// Returns what Python writes such a format by, as a hint for one_of(); or an empty text.
std::string call_that_writes(const std::string& format);

/// Prints one line for people on stdout.
void print_summary(const std::string& path, const graph::BuildSummary& summary, Clock::time_point start);

/// Says on stderr that the weights of this input may be times.
void note_doubtful_weights(const std::string& input);

/// How a graph in another format is read, with the same options in all commands that read graphs.
struct Reading : graph::ConvertOptions {
  bool keeps_names = true;  ///< false: results do not show the names of vertices

  Reading();
  void add_to(CLI::App& command);
};

/// Adds the graph that a command reads, and how to read it. The next options are in the usual group.
void add_graph_input(CLI::App& command, std::string& path, Reading& reading);

/// The graph that a command works on.
struct OpenGraph {
  graph::GraphFile file;
  std::optional<double> seconds_convert;  ///< time of converting, where the input was in another format
  std::string path_for_others;            ///< path where other processes can open it, as long as this is here
  std::unique_ptr<OutputFile> converted;
  std::unique_ptr<OutputFile> names;  ///< names of the vertices, where the input may have some
  bool names_lost = false;            ///< its vertices have names, which Reading::keeps_names leaves out
};

/// Opens a graph file (.ew), or what a file in another format is converted to, with a line on stderr. The
/// converted file has no name, and goes with the processes that have it. "-" is stdin. `memory_bytes`: the
/// memory for the conversion, which spills to disk what does not fit; 0: as much as it takes. Throws Error.
OpenGraph open_graph(const std::string& path, const Reading& reading, std::uint64_t memory_bytes = 0);
/// Opens the same graph, to be followed in the direction "out", "in" or "both" (see graph::view()).
OpenGraph open_graph(const std::string& path, const Reading& reading, const std::string& direction,
                     std::uint64_t memory_bytes);
/// Returns what the converter made of `input`, in a nameless file.
graph::GraphFile convert_to_temporary(const std::string& input, OutputFile& nameless,
                                      const graph::ConvertOptions& options, graph::BuildSummary& summary);
/// --help says this of an input that open_graph() opens.
inline constexpr const char* kGraphHelp =
    "a graph file (.ew), as convert and generate write it, or a file in another format that convert reads";

}  // namespace edgewire::cli
