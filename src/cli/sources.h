// Where kernels start that have sources: bfs, sssp, ppr and bc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/kernel_options.h"
#include "graph/graph_file.h"
#include "runs/kernels.h"

namespace edgewire::cli {

/// The vertices of "NAME,NAME" or of "@FILE", a name on each line, in ascending order: one at least, none
/// twice. Lines that are blank or begin with # are skipped. Throws UsageError that names `option`, or Error
/// that names file and line.
std::vector<VertexId> named_vertices(const graph::GraphFile& graph, const std::string& list,
                                     const char* option);

/// The values of all vertices, from lines of name and value, as results are written; 0 for those without a
/// line. Throws Error that names file and line, also where a value is more than `most`, for which `remedy`
/// is the remedy.
std::vector<double> named_values(const graph::GraphFile& graph, const std::string& path, double most,
                                 const char* remedy);

/// `count` of the vertices that `may` says, each as likely as any other; none twice. All of them, if there
/// are fewer.
std::vector<VertexId> sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                             const std::function<bool(VertexId)>& may);

/// The vertices that --source or --sources name, the same in all kernels.
struct NamedSources {
  std::string one, list;  ///< as they were asked for; or empty

  struct Options {
    CLI::Option *one, *list;
  };
  /// `several`: what the kernel does with more than one, such as "ranks restart at all of them".
  Options add_to(CLI::App& command, const std::string& several);
  bool given() const { return !one.empty() || !list.empty(); }
  /// In the order of the graph; without names of runs. Only when given(). Throws Error or UsageError that
  /// names the option.
  runs::Sources find(const graph::GraphFile& graph) const;
};

/// One vertex, or several: then the kernel runs from each.
struct SourceOptions : NamedSources {
  std::uint64_t samples = 0, seed = 1;  ///< 0: none

  void add_to(CLI::App& command);
  /// Throws Error or UsageError that names the option.
  runs::Sources find(const graph::GraphFile& graph) const;
};

/// How samples were asked for, for the report.
std::vector<std::pair<std::string, report::RunReport::Option>> samples_asked(std::uint64_t samples,
                                                                             std::uint64_t seed);

/// Adds --parallel, how searches share workers.
void add_parallel_option(CLI::App& command, std::string& parallel, const std::string& help);
/// Throws UsageError where edges may be on disks, since `option` lets each worker search by itself.
void expect_rows_in_memory(const EdgePlace& edges, const std::string& option);
/// What --parallel auto, levels or sources asks for: whether each worker searches from sources of its own.
std::optional<bool> apart_asked(const std::string& parallel);

/// The vertex to which bfs and sssp show a path.
struct TargetOption {
  std::string name;  ///< as it was asked for; or empty

  void add_to(CLI::App& command);
  /// Throws Error that names the option.
  runs::Target find(const graph::GraphFile& graph) const;
};

}  // namespace edgewire::cli
