// This file has the sources of kernels that have some: bfs, sssp, ppr and bc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/kernel_options.h"
#include "edgewire/graph.h"
#include "runs/kernels.h"

namespace edgewire::cli {

/// Returns the vertices of "NAME,NAME" or of "@FILE", which has a name on each line, in ascending order: at
/// least one, and none twice. A name is written as in results, or in double quotes. Blank lines and comments
/// (graph::comment_of()) are skipped, unless they name a vertex. With `shares` all lines may have a share
/// behind the name, or none: it is set to those of the vertices, all above 0, or to nothing. Throws
/// UsageError that names `option`, or Error that names file and line.
std::vector<VertexId> named_vertices(const Graph& graph, const std::string& list, const char* option,
                                     std::vector<double>* shares = nullptr);

/// Returns the values of all vertices, from lines of name and value, as results are written; 0 for those
/// without a line. Names and comments are those of named_vertices(). Throws Error that names file and line,
/// also where a value is more than `most`, for which `remedy` is the remedy.
std::vector<double> named_values(const Graph& graph, const std::string& path, double most,
                                 const char* remedy);

/// Returns `count` of the vertices that `may` allows, each as likely, and none twice; all if there are fewer.
/// For the report they are asked for by count and seed.
runs::Sources sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                     const std::function<bool(VertexId)>& may);

/// The vertices that --source or --sources name, the same in all kernels.
struct NamedSources {
  std::string one, list;     ///< sources as they were given; or empty
  bool with_shares = false;  ///< whether lines of a file may have shares

  struct Options {
    CLI::Option *one, *list;
  };
  /// Adds the options. `several`: the text for more than one, such as "ranks restart at all of them".
  Options add_to(CLI::App& command, const std::string& several);
  bool given() const { return !one.empty() || !list.empty(); }
  /// Returns the sources in the order of the graph, without names of runs. Call it only when given(). Throws
  /// Error or UsageError that names the option.
  runs::Sources find(const Graph& graph) const;
};

/// The options for one source, or several: then the kernel runs from each.
struct SourceOptions : NamedSources {
  std::uint64_t samples = 0, seed = 1;  ///< number of samples, where 0 is none, and their seed

  void add_to(CLI::App& command);
  /// Returns the sources. Throws Error or UsageError that names the option.
  runs::Sources find(const Graph& graph) const;
};

/// The vertex to which bfs and sssp show a path.
struct TargetOption {
  std::string name;  ///< target as it was given; or empty

  void add_to(CLI::App& command);
  /// Returns the target. Throws Error that names the option.
  runs::Target find(const Graph& graph) const;
};

}  // namespace edgewire::cli
