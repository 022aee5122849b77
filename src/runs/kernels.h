// This file has all kernels that follow a frontier: what each is asked, and one call that runs it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runs/checkpoints.h"
#include "runs/frontier.h"

namespace edgewire::runs {

// Each make_...() makes a process's kernel for run_frontier(), which keeps a copy of its options.

/// The vertices where paths start. One vertex needs no name, several have one each.
struct Sources {
  std::vector<VertexId> vertices;    ///< a run from each; not empty
  std::vector<std::string> names{};  ///< names of `vertices`, where several were asked for; or empty
  /// How they were asked for, for the report.
  std::vector<std::pair<std::string, report::RunReport::Option>> asked{};
  std::vector<double> shares{};  ///< of make_ppr(), see kernels::relative_shares(); or empty
};

/// Throws UsageError where there is no source, or where the names are not as many as the sources. make_bfs()
/// and make_sssp() begin with it.
void check(const Sources& sources);

/// The vertex where a path leads that is shown; or nowhere.
struct Target {
  std::optional<VertexId> vertex{};
  std::string asked{};  ///< how it was asked for, for the report
};

struct BfsOptions {
  Sources sources;
  bool parents = false;  ///< results show the vertex before, instead of the level
  Target target{};       ///< show a path to it
  /// Whether each worker searches from sources of its own; nothing: where it pays.
  std::optional<bool> apart{};
  bool deterministic = false;  ///< take the smallest of several parents
};
/// Makes breadth-first search, see kernels::Bfs. Throws UsageError as check() does.
std::unique_ptr<Kernel> make_bfs(const BfsOptions& options);

struct SsspOptions {
  Sources sources;
  double delta = 0;  ///< width of a bucket; 0: the usual one
  bool unit_weights = false;
  enum class Precision { automatic, f32, f64 } precision = Precision::automatic;
  bool parents = false;  ///< results show the vertex before, instead of the distance
  Target target{};       ///< show a path to it
};
/// Makes shortest paths by delta stepping, see kernels::DeltaStepping. Throws Error where the graph has no
/// weights, and UsageError as check() does.
std::unique_ptr<Kernel> make_sssp(const graph::GraphFile& graph, const SsspOptions& options);

struct BcOptions {
  std::vector<VertexId> sources;  ///< ascending
  std::uint64_t samples = 0;      ///< the sources are so many, drawn at random; 0: they are not
  /// Whether each worker searches from sources of its own; nothing: where it pays.
  std::optional<bool> apart{};
  bool deterministic = false, weighted = false, endpoints = false, normalized = false;
  /// How sources were asked for, for the report.
  std::vector<std::pair<std::string, report::RunReport::Option>> asked{};
  CheckpointOptions checkpoints{};
};
/// Makes betweenness centrality, see kernels::Bc.
std::unique_ptr<Kernel> make_bc(const BcOptions& options);

/// Makes weakly connected components, see kernels::Wcc.
std::unique_ptr<Kernel> make_wcc();
/// Makes strongly connected components, see kernels::Scc.
std::unique_ptr<Kernel> make_scc();
struct CdlpOptions {
  std::uint32_t iterations = 10;  ///< the most iterations
  CheckpointOptions checkpoints{};
};
/// Makes communities by label propagation, see kernels::Cdlp.
std::unique_ptr<Kernel> make_cdlp(const CdlpOptions& options);
/// Makes local clustering coefficients and triangles, see kernels::Lcc.
std::unique_ptr<Kernel> make_lcc();

}  // namespace edgewire::runs
