// Where kernels start that have sources: bfs, sssp, ppr and bc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph_file.h"
#include "runs/kernels.h"

namespace edgewire::cli {

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
