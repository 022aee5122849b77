// The kernels of this library: one call each, which runs in all processes of a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "edgewire/graph.h"
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

struct PageRankOptions {
  int iterations = 20;    ///< the most, from 0 on
  double damping = 0.85;  ///< the part of its rank that a vertex gives to others, from 0 to 1
  double tolerance = 0;   ///< stop when the ranks have changed by less in sum; 0: never
  /// ppr(): for each source, how often walks start again there, relative to the others; empty: all alike.
  std::vector<double> shares = {};
};
/// Returns ranks, which sum to 1, by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation
/// Ranking", 1999). With JobOptions::weighted a vertex shares its rank in proportion to weights.
Result<double> pagerank(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                        const PageRankOptions& asked = {}, const JobOptions& job = {});
/// Returns ranks of walks that start again at one of `sources`, of which there is at least one. They ascend,
/// each once.
Result<double> ppr(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                   const std::vector<VertexId>& sources, const PageRankOptions& asked = {},
                   const JobOptions& job = {});
/// Returns y = A x, where row v of A has the weights of the edges to v, or 1 where the graph has none. `x`: a
/// finite number for each vertex; empty: all are 1. A is applied `iterations` times. Throws Error where a
/// value is too large for JobOptions::wire.
Result<double> spmv(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::vector<double> x = {},
                    int iterations = 1, const JobOptions& job = {});

struct BfsOptions {
  bool parents = false;        ///< return the vertex before each one, see bfs()
  bool deterministic = false;  ///< take the smallest of several parents
};
/// Returns levels: the number of edges from the source, or 0xffffffff where no path leads. With `parents` it
/// returns for each vertex the one before it on its path, for the source the source itself, and kNoVertex
/// where no path leads.
Result<PlainId> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const BfsOptions& asked = {}, const JobOptions& job = {});

struct SsspOptions {
  double delta = 0;           ///< width of a bucket; 0: the usual one
  bool unit_weights = false;  ///< all edges have weight 1
  bool parents = false;       ///< return the vertex before each one, as bfs() does, as doubles
};
/// Returns distances, or infinity where no path leads (Meyer, Sanders: "Delta-stepping", 2003). Throws Error
/// where the graph has no weights.
Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const SsspOptions& asked = {}, const JobOptions& job = {});

struct BcOptions {
  bool weighted = false;       ///< paths of the least sum of weights
  bool endpoints = false;      ///< a path also counts for its ends
  bool normalized = false;     ///< divide by the number of pairs
  bool deterministic = false;  ///< add up in a fixed order
};
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
/// vertex. `iterations`: the most, from 1 on.
Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                     std::uint32_t iterations = 10, const JobOptions& job = {});
/// Returns local clustering coefficients; the number of triangles is in the report's JSON.
Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job = {});

}  // namespace edgewire
