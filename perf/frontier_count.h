// What processes send to each other in the supersteps of a kernel that follows a frontier, counted by a
// sequential run of the method.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graph/graph_file.h"
#include "plan/ownership.h"

namespace edgewire::perf {

/// How what a run sends compares with the count.
enum class Exactness { exact, at_least };

/// Records that each process sends and gets in a superstep.
struct RecordLoad {
  std::vector<std::uint64_t> sent, received;
  explicit RecordLoad(std::size_t processes) : sent(processes), received(processes) {}

  void add(std::size_t from, std::size_t to) {
    ++sent[from];
    ++received[to];
  }
};

struct CountedStep {
  std::string phase;  ///< as in the run report
  std::uint64_t frontier = 0;
  RecordLoad load;
};

/// A kernel, its graph and its source or iterations; the graph outlives it.
class FrontierCount {
 public:
  virtual ~FrontierCount() = default;
  /// One for each superstep that a run on so many processes reports; sssp and wcc have one in all.
  virtual std::vector<CountedStep> count(const plan::Ownership& ownership) const = 0;
  virtual Exactness exactness(int processes) const = 0;
  virtual std::uint64_t record_bytes() const = 0;
};

/// Throws UsageError unless the vertex is one of the graph.
void check_source(const graph::GraphFile& graph, std::uint32_t source);

// All of these throw UsageError when an argument makes no sense.

/// bfs, exact, or sssp, at least.
std::unique_ptr<FrontierCount> count_search(const graph::GraphFile& graph, bool by_level,
                                            std::uint32_t source);
/// bc from one source, exact.
std::unique_ptr<FrontierCount> count_paths(const graph::GraphFile& graph, std::uint32_t source);
/// wcc, at least.
std::unique_ptr<FrontierCount> count_components(const graph::GraphFile& graph);
/// lcc, exact. Finds all triangles; memory: 8 bytes for each pair of neighbours that is in one.
std::unique_ptr<FrontierCount> count_triangles(const graph::GraphFile& graph);
/// cdlp, exact up to 64 processes.
std::unique_ptr<FrontierCount> count_labels(const graph::GraphFile& graph, std::uint64_t iterations);

/// The vertices that a source reaches, level by level.
struct Levels {
  std::vector<std::uint32_t> level;    ///< [vertex]; kUnreached
  std::vector<std::uint32_t> reached;  ///< vertices in the order of their levels
  std::vector<std::size_t> ends;       ///< [level]: of its vertices in `reached`
  std::vector<std::uint64_t> edges;    ///< [level]: out of its vertices

  static constexpr std::uint32_t kUnreached = 0xffffffff;
  std::size_t count() const noexcept { return ends.size(); }
  std::span<const std::uint32_t> of(std::size_t l) const noexcept {
    const std::size_t first = l == 0 ? 0 : ends[l - 1];
    return std::span(reached).subspan(first, ends[l] - first);
  }
};

/// A sequential breadth-first search.
Levels find_levels(const graph::GraphFile& graph, std::uint32_t source);

/// [vertex]
std::vector<std::uint32_t> owners_of(const graph::GraphFile& graph, const plan::Ownership& ownership);

}  // namespace edgewire::perf
