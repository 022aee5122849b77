// The kernels folder has all kernels, each by one name. NAME.h or NAME/NAME.h is the algorithm. A program,
// which passes over all edges, defines the work at a vertex and along an edge, and knows nothing of tiles,
// slots, threads or sockets. A kernel that follows a frontier defines a superstep. This file has the facts of
// each kernel that are known before it is made: a row for each, in descriptor.cpp.
//
// A new kernel has its algorithm here, and a line in runs.h if it is a program; a reference in
// kernels/check, a count in kernels/count, and its row. Elsewhere it has a class in src/runs, its call and
// options in edgewire/kernels.h, a command in src/cli/commands.cpp, an independent reference in the tests,
// and a row in docs/kernels.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "disk/memory_budget.h"
#include "edgewire/graph.h"
#include "kernels/count/count.h"

namespace edgewire::kernels {

/// The share of a graph that one process has.
struct ProcessShare {
  std::uint64_t owned = 0;     ///< number of owned vertices
  std::uint64_t edges = 0;     ///< number of edges out of them
  std::uint64_t in_edges = 0;  ///< number of edges into them
  std::uint64_t boundary = 0;  ///< number of vertices of others that its edges lead to
  std::uint64_t told = 0;  ///< number of pairs of an owned vertex and a process that has it in its boundary
  /// The last two where a process knows the sources of edges into its vertices, too.
  std::uint64_t boundary_both = 0, told_both = 0;
};

/// A graph and the share of each process.
struct GraphShares {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool symmetric = false;  ///< whether every edge is stored both ways
  std::vector<ProcessShare> processes;
};

/// The bytes of memory for one item of each kind.
struct ShareBytes {
  std::uint64_t owned = 0, boundary = 0, told = 0, edge = 0, in_edge = 0;

  constexpr ShareBytes operator+(const ShareBytes& more) const noexcept {
    return {owned + more.owned, boundary + more.boundary, told + more.told, edge + more.edge,
            in_edge + more.in_edge};
  }
  constexpr std::uint64_t of(const ProcessShare& share) const noexcept {
    return owned * share.owned + boundary * share.boundary + told * share.told + edge * share.edges +
           in_edge * share.in_edges;
  }
};

/// The memory that a kernel takes in a process, beside that of its job.
struct KernelMemory {
  ShareBytes symmetric{}, directed{};  ///< bytes in graphs that store every edge both ways, and in others
  bool follows_rows = true;            ///< whether rows of known vertices take memory, too
  bool both_ways = false;              ///< whether it knows the sources of in-edges in directed graphs, too
  /// Returns the rest of its memory; or null.
  std::uint64_t (*more)(const GraphShares&, const ProcessShare&) = nullptr;
};

/// The options of a run whose records are counted.
struct CountedRun {
  std::string kernel{};
  std::string source{};           ///< the source of kernels that have one: an id or a label
  std::uint64_t iterations = 10;  ///< iterations of kernels that are asked for a number of them
};

struct Descriptor {
  std::string_view name;
  /// Whether it passes over all edges, and sends the values of a plan; else it follows a frontier.
  bool dense = false;
  bool has_source = false;      ///< whether it starts at a vertex
  bool has_iterations = false;  ///< whether it takes a number of iterations
  /// Counts the records that a run must send; null for dense kernels. It ignores what the kernel has not.
  FrontierCount (*count)(const Graph&, VertexId source, std::uint64_t iterations) = nullptr;
  KernelMemory memory{};  ///< memory of a kernel that follows a frontier
};

/// Returns all kernels, those that are dense first.
std::span<const Descriptor> descriptors();
/// Throws UsageError where no kernel has this name.
const Descriptor& descriptor_of(std::string_view kernel);
/// Returns the bytes that a kernel keeps of a vertex while rows are on disks. Throws as descriptor_of().
disk::VertexBytes vertex_bytes(std::string_view kernel);

/// Returns the count of a run. Throws UsageError for a kernel without one, Error for no such source.
FrontierCount count_of(const CountedRun& run, const Graph& graph);

/// Throws UsageError where owners of vertices are not given, which a kernel that follows a frontier needs.
void check_frontier_ownerships(std::string_view kernel, const std::vector<std::string>& ownerships);

}  // namespace edgewire::kernels
