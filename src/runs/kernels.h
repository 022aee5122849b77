// This file has all kernels: the options of each, and one call that makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edgewire/kernels.h"
#include "runs/kernel.h"

namespace edgewire::runs {

// Each make_...() makes a process's kernel, which keeps a copy of its options.

/// The vertices where paths start. One vertex needs no name, several have one each.
struct Sources {
  std::vector<VertexId> vertices;    ///< a run from each; not empty
  std::vector<std::string> names{};  ///< names of `vertices`, where there are several; or empty
  /// The options that named them, for the report.
  std::vector<std::pair<std::string, report::RunReport::Option>> asked{};
  std::vector<double> shares{};  ///< shares for make_ppr(), see kernels::relative_shares(); or empty
};

/// Throws UsageError where there is no source, or the numbers of names and sources differ.
void check(const Sources& sources);

/// The vertex to which a path is shown, if there is one.
struct Target {
  std::optional<VertexId> vertex{};
  std::string asked{};  ///< text of the option, for the report
};

/// Makes breadth-first search, which shows a path to `target`. Throws UsageError as check() does.
std::unique_ptr<Kernel> make_bfs(const Sources& sources, const BfsOptions& asked = {},
                                 const Target& target = {});

/// The search for shortest paths that is asked for.
struct SsspAsked : SsspOptions {
  bool parents = false;  ///< the result is the vertex before each one, not its distance
};
/// Makes shortest paths by delta stepping, see kernels::DeltaStepping, which show a path to `target`. Throws
/// Error where the graph has no weights, and UsageError as check() does.
std::unique_ptr<Kernel> make_sssp(const Graph& graph, const Sources& sources, const SsspAsked& asked = {},
                                  const Target& target = {});

/// Makes betweenness centrality. `sources` ascend. `samples`: how many were drawn at random; 0: none were.
std::unique_ptr<Kernel> make_bc(const Sources& sources, const BcOptions& asked = {},
                                std::uint64_t samples = 0);

/// Makes weakly connected components, see kernels::Wcc.
std::unique_ptr<Kernel> make_wcc();
/// Makes strongly connected components, see kernels::Scc.
std::unique_ptr<Kernel> make_scc();
/// Makes communities by label propagation, see kernels::Cdlp.
std::unique_ptr<Kernel> make_cdlp(const CdlpOptions& asked = {});
/// Makes local clustering coefficients and triangles, see kernels::Lcc.
std::unique_ptr<Kernel> make_lcc();
/// Makes the count of triangles, of the graph alone or of each vertex, too.
std::unique_ptr<Kernel> make_tc(const TcOptions& asked = {});

/// Makes ranks by power iteration, see kernels::PageRank. `doubles`: whether messages are doubles, otherwise
/// floats; likewise for make_ppr() and make_spmv().
std::unique_ptr<Kernel> make_pagerank(const PageRankOptions& asked, std::uint64_t vertices, bool doubles);
/// Makes personalised ranks, see kernels::Ppr. `sources`: in ascending order.
std::unique_ptr<Kernel> make_ppr(const PageRankOptions& asked, Sources sources, bool doubles);
/// The vector by which a matrix is multiplied.
struct Vector {
  std::vector<double> values{};  ///< values by vertex; empty: all are 1
  std::string path{};            ///< path from which it was read, for the report
};
/// Makes y = A x, see kernels::Spmv. `weighted`: whether edges have their weights.
std::unique_ptr<Kernel> make_spmv(const SpmvOptions& asked, Vector x, bool weighted, bool doubles);

}  // namespace edgewire::runs
