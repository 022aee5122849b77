// The kernels of this library: one call each, which runs in all processes of a job. The command line, C++ and
// Python have the same options of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edgewire/graph.h"
#include "edgewire/launch.h"
#include "edgewire/options.h"

#pragma GCC visibility push(default)

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

/// The options of pagerank() and ppr().
struct PageRankOptions {
  std::optional<int> iterations = {};  ///< the most, from 0 on; see most_iterations()
  double damping = 0.85;               ///< the part of its rank that a vertex gives to others, from 0 to 1
  double tolerance = 0;                ///< stop when the ranks have changed by less in sum; 0: never
  /// A vertex shares its rank among its edges in proportion to their weights, none of which is negative. A
  /// vertex whose weights sum to 0 is dangling. Otherwise the shares are equal.
  bool weighted = false;
  /// Ranks are as in McSherry's posts of 2015: start 0, new rank = 1 - damping + damping * sum, no dangling
  /// mass. ppr() does not have it.
  bool form_2015 = false;

  /// Returns the most iterations: without a number 20, or 1000 where there is a tolerance.
  int most_iterations() const { return iterations.value_or(tolerance > 0 ? 1000 : 20); }
};

/// Returns ranks, which sum to 1, by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation
/// Ranking", 1999).
Result<double> pagerank(launch::Bootstrap& bootstrap, const Graph& graph, const PageRankOptions& asked = {},
                        const JobOptions& job = {});

/// Where walks start again: at least one vertex. They ascend, each once.
struct PprSources {
  std::vector<VertexId> vertices;
  /// For each of them how often walks start again there, relative to the others; empty: all alike.
  std::vector<double> shares = {};
};
/// Returns ranks of walks that start again at one of `sources`.
Result<double> ppr(launch::Bootstrap& bootstrap, const Graph& graph, const PprSources& sources,
                   const PageRankOptions& asked = {}, const JobOptions& job = {});

/// The options of spmv().
struct SpmvOptions {
  int iterations = 1;  ///< how often A is applied, from 0 on
};

/// Returns y = A x, where row v of A has the weights of the edges to v, or 1 where the graph has none. `x`: a
/// finite number for each vertex; empty: all are 1. Throws Error where a value is too large for
/// JobOptions::wire.
Result<double> spmv(launch::Bootstrap& bootstrap, const Graph& graph, std::vector<double> x = {},
                    const SpmvOptions& asked = {}, const JobOptions& job = {});

/// Who searches where a kernel has several sources.
enum class Parallel {
  automatic,  ///< as it pays
  levels,     ///< all workers share the levels of a search, one search after the other
  sources     ///< each worker searches from sources of its own
};

/// The options of bfs().
struct BfsOptions {
  bool parents = false;        ///< return the vertex before each one, see bfs()
  bool deterministic = false;  ///< take the smallest of several parents
  Parallel parallel = Parallel::automatic;
};

/// Returns levels: the number of edges from the source, or 0xffffffff where no path leads. With `parents` it
/// returns for each vertex the one before it on its path, for the source the source itself, and kNoVertex
/// where no path leads.
Result<PlainId> bfs(launch::Bootstrap& bootstrap, const Graph& graph, VertexId source,
                    const BfsOptions& asked = {}, const JobOptions& job = {});

/// The options of sssp() and sssp_parents().
struct SsspOptions {
  double delta = 0;           ///< width of a bucket; 0: the usual one
  bool unit_weights = false;  ///< all edges have weight 1
  /// The type of distances: f64 has 8 bytes, f32 has 4 and rounds more. Automatic: weights that are whole are
  /// added exactly, as whole numbers of 8 bytes, others as f64.
  enum class Precision { automatic, f32, f64 } precision = Precision::automatic;
};

/// Returns distances, or infinity where no path leads (Meyer, Sanders: "Delta-stepping", 2003). Throws Error
/// where the graph has no weights.
Result<double> sssp(launch::Bootstrap& bootstrap, const Graph& graph, VertexId source,
                    const SsspOptions& asked = {}, const JobOptions& job = {});

/// Returns for each vertex the one before it on a shortest path, for the source the source itself, and
/// kNoVertex where no path leads.
Result<PlainId> sssp_parents(launch::Bootstrap& bootstrap, const Graph& graph, VertexId source,
                             const SsspOptions& asked = {}, const JobOptions& job = {});

/// The options of bc().
struct BcOptions {
  bool weighted = false;    ///< paths have the least sum of weights, else the fewest edges
  bool endpoints = false;   ///< a path also counts for its ends
  bool normalized = false;  ///< divide by the number of pairs
  /// All sums are added in the same order in every run; each worker searches from sources of its own, and one
  /// that is done waits.
  bool deterministic = false;
  Parallel parallel = Parallel::automatic;
};

/// Returns betweenness, added up over `sources`, which ascend, each once; empty: all vertices (Brandes: "A
/// faster algorithm for betweenness centrality", 2001).
Result<double> bc(launch::Bootstrap& bootstrap, const Graph& graph, const std::vector<VertexId>& sources = {},
                  const BcOptions& asked = {}, const JobOptions& job = {});

/// Returns labels of weakly connected components: the label of each is its first vertex.
Result<PlainId> wcc(launch::Bootstrap& bootstrap, const Graph& graph, const JobOptions& job = {});
/// Returns labels of strongly connected components: the label of each is its first vertex.
Result<PlainId> scc(launch::Bootstrap& bootstrap, const Graph& graph, const JobOptions& job = {});

/// The options of cdlp().
struct CdlpOptions {
  std::uint32_t iterations = 10;  ///< the most, from 1 on
};

/// Returns communities by label propagation, as LDBC Graphalytics defines it: labels, each of which is a
/// vertex.
Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const Graph& graph, const CdlpOptions& asked = {},
                     const JobOptions& job = {});
/// Returns local clustering coefficients; the number of triangles is in the report's JSON.
Result<double> lcc(launch::Bootstrap& bootstrap, const Graph& graph, const JobOptions& job = {});

/// The options of tc().
struct TcOptions {
  bool vertices = false;  ///< return the triangles of each vertex, see tc()
};

/// Returns one value: the number of triangles of the graph without directions, each counted once. With
/// `vertices` it returns for each vertex the triangles that it is a corner of.
Result<std::uint64_t> tc(launch::Bootstrap& bootstrap, const Graph& graph, const TcOptions& asked = {},
                         const JobOptions& job = {});

// The same kernels in a job of one process, which is this one.

/// Calls the kernel of this name.
inline Result<double> pagerank(const Graph& graph, const PageRankOptions& asked = {},
                               const JobOptions& job = {}) {
  return pagerank(*launch::alone(), graph, asked, job);
}
/// Calls the kernel of this name.
inline Result<double> ppr(const Graph& graph, const PprSources& sources, const PageRankOptions& asked = {},
                          const JobOptions& job = {}) {
  return ppr(*launch::alone(), graph, sources, asked, job);
}
/// Calls the kernel of this name.
inline Result<double> spmv(const Graph& graph, std::vector<double> x = {}, const SpmvOptions& asked = {},
                           const JobOptions& job = {}) {
  return spmv(*launch::alone(), graph, std::move(x), asked, job);
}
/// Calls the kernel of this name.
inline Result<PlainId> bfs(const Graph& graph, VertexId source, const BfsOptions& asked = {},
                           const JobOptions& job = {}) {
  return bfs(*launch::alone(), graph, source, asked, job);
}
/// Calls the kernel of this name.
inline Result<double> sssp(const Graph& graph, VertexId source, const SsspOptions& asked = {},
                           const JobOptions& job = {}) {
  return sssp(*launch::alone(), graph, source, asked, job);
}
/// Calls the kernel of this name.
inline Result<PlainId> sssp_parents(const Graph& graph, VertexId source, const SsspOptions& asked = {},
                                    const JobOptions& job = {}) {
  return sssp_parents(*launch::alone(), graph, source, asked, job);
}
/// Calls the kernel of this name.
inline Result<double> bc(const Graph& graph, const std::vector<VertexId>& sources = {},
                         const BcOptions& asked = {}, const JobOptions& job = {}) {
  return bc(*launch::alone(), graph, sources, asked, job);
}
/// Calls the kernel of this name.
inline Result<PlainId> wcc(const Graph& graph, const JobOptions& job = {}) {
  return wcc(*launch::alone(), graph, job);
}
/// Calls the kernel of this name.
inline Result<PlainId> scc(const Graph& graph, const JobOptions& job = {}) {
  return scc(*launch::alone(), graph, job);
}
/// Calls the kernel of this name.
inline Result<PlainId> cdlp(const Graph& graph, const CdlpOptions& asked = {}, const JobOptions& job = {}) {
  return cdlp(*launch::alone(), graph, asked, job);
}
/// Calls the kernel of this name.
inline Result<double> lcc(const Graph& graph, const JobOptions& job = {}) {
  return lcc(*launch::alone(), graph, job);
}
/// Calls the kernel of this name.
inline Result<std::uint64_t> tc(const Graph& graph, const TcOptions& asked = {}, const JobOptions& job = {}) {
  return tc(*launch::alone(), graph, asked, job);
}

}  // namespace edgewire

#pragma GCC visibility pop
