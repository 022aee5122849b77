// The kernels/count folder counts what processes send to each other in the supersteps of a kernel that
// follows a frontier. Each kernel has a sequential run of its method that counts: search_count.cpp has those
// that search from a source, NAME_count.cpp the others. This file has what they share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "edgewire/graph.h"
#include "partition/ownership.h"

namespace edgewire::kernels {

/// The relation between the bytes that a run sends and the count.
enum class Exactness {
  exact,
  at_least,
  about,  ///< holds with one worker in each process; with more the run may send a little more or less
};
constexpr const char* to_name(Exactness exactness) noexcept {
  return exactness == Exactness::exact ? "exact" : exactness == Exactness::about ? "about" : "at least";
}

/// The records that each process sends and gets in a superstep.
struct RecordLoad {
  std::vector<std::uint64_t> sent, received;
  explicit RecordLoad(std::size_t processes) : sent(processes), received(processes) {}

  void add(std::size_t from, std::size_t to, std::uint64_t records = 1) {
    sent[from] += records;
    received[to] += records;
  }
  /// Returns the records of all processes.
  std::uint64_t records() const { return std::accumulate(sent.begin(), sent.end(), std::uint64_t{}); }
  void add(const RecordLoad& other) {
    std::ranges::transform(sent, other.sent, sent.begin(), std::plus<>());
    std::ranges::transform(received, other.received, received.begin(), std::plus<>());
  }
};

struct CountedStep {
  std::string phase;  ///< name of the phase, as in the run report
  std::uint64_t frontier = 0;
  RecordLoad load;
};

/// Returns the load where owners tell a bit for each vertex that a process knows, 64 in a record.
RecordLoad bits_of_known(const Graph& graph, const partition::Ownership& ownership);

/// A kernel, its graph and its source or iterations; the graph outlives it.
struct FrontierCount {
  /// Name; for scc where edges are stored both ways that of wcc, as both do the same.
  std::string_view kernel;
  Exactness exactness;
  std::uint64_t record_bytes;
  /// A function that returns the steps of a run with this ownership; one for sssp, wcc and most of scc.
  std::function<std::vector<CountedStep>(const partition::Ownership&)> count;
};

// All of these throw UsageError when an argument makes no sense.

/// Counts for bfs, exactly. `on_disks`: whether rows are on disks, from where it pulls other levels.
FrontierCount count_breadth_first(const Graph& graph, VertexId source, bool on_disks = false);
/// Counts for sssp the least that is sent. `distance_bytes`: 8, or 4 with --precision f32.
FrontierCount count_shortest_paths(const Graph& graph, VertexId source,
                                   std::size_t distance_bytes = sizeof(double));
/// Counts for bc from one source, exactly.
FrontierCount count_betweenness(const Graph& graph, VertexId source);
/// Counts for wcc the least that is sent. `on_disks`: whether rows are, which are all read then.
FrontierCount count_components(const Graph& graph, bool on_disks = false);
/// Counts for scc: exactly where a directed graph has so few edges that all processes get those that may be
/// on a cycle, else about; at least where edges have no direction, as wcc.
FrontierCount count_strong_components(const Graph& graph);
/// Counts for lcc or tc, exactly. `credited`: whether vertices learn of their triangles. Then it finds all of
/// these; memory: 8 bytes for each pair of neighbours in one.
FrontierCount count_triangles(const Graph& graph, std::string_view kernel, bool credited);
/// Counts for cdlp, exactly.
FrontierCount count_labels(const Graph& graph, std::uint64_t iterations);

/// The owners of vertices, and the vertices of others that a process has named, each once.
class Names {
 public:
  Names(const Graph& graph, const partition::Ownership& ownership)
      : owners_(graph.vertices()), namers_(graph.vertices(), kNobody) {
    for (VertexId v{}; v < owners_.size(); ++v) owners_[v] = ownership.home(v).owner;
  }

  std::uint32_t owner(VertexId vertex) const noexcept { return owners_[vertex]; }
  /// Returns whether the process has a reason to name the vertex: of another one, and for the first time.
  bool add(std::uint32_t process, VertexId vertex) noexcept {
    if (owners_[vertex] == process || namers_[vertex] == process) return false;
    namers_[vertex] = process;
    return true;
  }

 private:
  static constexpr std::uint32_t kNobody = 0xffffffff;
  std::vector<std::uint32_t> owners_;  ///< owners, [vertex]
  std::vector<std::uint32_t> namers_;  ///< last process that has named a vertex, [vertex]
};

}  // namespace edgewire::kernels
