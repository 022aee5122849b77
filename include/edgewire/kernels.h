// The kernels of this library: one call each, which runs in all processes of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/kernel_options.h"
#include "edgewire/launch.h"
#include "edgewire/options.h"

namespace edgewire {

/// What a run took, at rank 0; elsewhere only zeros.
struct Report {
  double seconds = 0;                ///< of all steps, in the slowest process
  std::uint64_t steps = 0;           ///< iterations or supersteps
  std::uint64_t payload_bytes = 0;   ///< sent in all of them, summed over processes
  std::uint64_t wire_bytes = 0;      ///< the same, with all headers
  std::uint64_t required_bytes = 0;  ///< payload that had to be sent; 0: nothing, or nobody has counted it,
                                     ///< see JobOptions::bound
  std::string json{};                ///< all that is known of the run: what --json writes
  std::string text{};                ///< the same in lines for people
  std::string page{};                ///< HTML with charts of where the time went, see JobOptions::profile
};

/// What a kernel returns.
template <class Value>
struct Result {
  std::vector<Value> values{};  ///< [vertex], of all vertices, at rank 0; elsewhere there are none
  Report report{};
};

// All functions are collective: every process of the job calls them with the same graph and options. They
// throw UsageError when an option makes no sense or a source is no vertex of the graph, and Error when the
// job fails.

/// Returns ranks, which sum to 1, by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation
/// Ranking", 1999).
Result<double> pagerank(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                        const PageRankOptions& asked = {}, const JobOptions& job = {});
/// Where walks start again: at least one vertex. They ascend, each once.
struct PprSources {
  std::vector<VertexId> vertices;
  /// For each of them how often walks start again there, relative to the others; empty: all alike.
  std::vector<double> shares = {};
};
/// Returns ranks of walks that start again at one of `sources`.
Result<double> ppr(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const PprSources& sources,
                   const PageRankOptions& asked = {}, const JobOptions& job = {});
/// Returns y = A x, where row v of A has the weights of the edges to v, or 1 where the graph has none. `x`: a
/// finite number for each vertex; empty: all are 1. Throws Error where a value is too large for
/// JobOptions::wire.
Result<double> spmv(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::vector<double> x = {},
                    const SpmvOptions& asked = {}, const JobOptions& job = {});

/// Returns levels: the number of edges from the source, or 0xffffffff where no path leads. With `parents` it
/// returns for each vertex the one before it on its path, for the source the source itself, and kNoVertex
/// where no path leads.
Result<PlainId> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const BfsOptions& asked = {}, const JobOptions& job = {});

/// Returns distances, or infinity where no path leads (Meyer, Sanders: "Delta-stepping", 2003). Throws Error
/// where the graph has no weights.
Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const SsspOptions& asked = {}, const JobOptions& job = {});

/// Returns betweenness, added up over `sources`, which ascend, each once; empty: all vertices (Brandes: "A
/// faster algorithm for betweenness centrality", 2001).
Result<double> bc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                  const std::vector<VertexId>& sources = {}, const BcOptions& asked = {},
                  const JobOptions& job = {});

/// Returns labels of weakly connected components: the label of each is its first vertex.
Result<PlainId> wcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job = {});
/// Returns labels of strongly connected components: the label of each is its first vertex.
Result<PlainId> scc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job = {});
/// Returns communities by label propagation, as LDBC Graphalytics defines it: labels, each of which is a
/// vertex.
Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                     const CdlpOptions& asked = {}, const JobOptions& job = {});
/// Returns local clustering coefficients; the number of triangles is in the report's JSON.
Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job = {});

}  // namespace edgewire
