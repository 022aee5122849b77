// Where kernels start that have sources: bfs, sssp, ppr and bc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_file.h"
#include "graph/vertex_names.h"
#include "report/run_report.h"

namespace edgewire::cli {

/// `count` of the vertices that `may` says, each as likely as any other; none twice. All of them, if there
/// are fewer.
std::vector<std::uint32_t> sample(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                                  const std::function<bool(std::uint32_t)>& may);

/// The vertices that --source or --sources name, the same in all kernels.
struct NamedSources {
  std::string one, list;  ///< as they were asked for; or empty

  struct Options {
    CLI::Option *one, *list;
  };
  /// `several`: what the kernel does with more than one, such as "ranks restart at all of them".
  Options add_to(CLI::App& command, const std::string& several);
  bool given() const { return !one.empty() || !list.empty(); }
  /// In the order of the graph. Only when given(). Throws Error or UsageError that names the option.
  std::vector<std::uint32_t> find(const graph::GraphFile& graph) const;
  /// For the report: empty where none is given.
  std::vector<std::pair<std::string, report::RunReport::Option>> options() const;
};

/// One vertex, or several: then the kernel runs from each.
struct Sources : NamedSources {
  std::uint64_t samples = 0, seed = 1;  ///< 0: none
  std::vector<std::uint32_t> vertices;  ///< a run from each
  std::vector<std::string> names;       ///< of `vertices`, where several were asked for

  void add_to(CLI::App& command);
  /// Sets `vertices` and `names`. Throws Error or UsageError that names the option.
  void find(const graph::GraphFile& graph);
  /// For the report.
  std::vector<std::pair<std::string, report::RunReport::Option>> options() const;
};

/// The vertex to which bfs and sssp show a path.
struct Target {
  std::string name;                     ///< as it was asked for; or empty
  std::optional<std::uint32_t> vertex;  ///< the same

  void add_to(CLI::App& command);
  /// Sets `vertex`. Throws Error that names the option.
  void find(const graph::GraphFile& graph);
};

/// A path as it stands in an answer. `vertices`: from the source to the target; empty: there is none.
report::Path named_path(const graph::VertexNames& names, const std::vector<std::uint32_t>& vertices,
                        std::uint32_t source, std::uint32_t target, report::Number length);

}  // namespace edgewire::cli
