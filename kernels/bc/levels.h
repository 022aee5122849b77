// Brandes's sums from a source, level by level, as bc.h has them; all workers and processes share each level.
//
// A level is computed from the side that has fewer edges, as in bfs.h: from the level before (push) or, in
// graphs that store every edge both ways, from the vertices that are not visited yet (pull). Backward, a
// level pulls shares from the level behind it, or that one pushes its shares into it.
//
// Over the wire. Push forward: a process sums up sigma for a vertex of another process and sends the sum
// once. Backward, the owner answers with the vertex's share, so edges are never followed against their
// direction. Pull forward: processes get sigma of the vertices of the level before that they know, as
// mirrors; backward, they push shares along the same edges, summed up as above.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/frontier.h"
#include "frontier/frontier_job.h"
#include "kernels/bc/bc.h"
#include "kernels/scaled.h"

namespace edgewire::kernels {

/// The search level by level, which counts paths in a Number: double or Scaled.
template <class Number>
class BcLevels final : public BcSearch {
 public:
  /// Makes the search. Memory: two Numbers for each vertex that the process knows and one for each owned one,
  /// 4 bytes for each owned one, twice until all paths are counted, and 8 for each process that has it as a
  /// neighbour. The job has wide records. `endpoints`: paths lie on their ends, too. `job` outlives it.
  BcLevels(frontier::Job& job, bool endpoints);

  bool add(VertexId source, BcSums& sums) override;

 private:
  using List = std::vector<LocalNumber>;
  /// Number of numbers that are fetched into the cache before they are used.
  static constexpr std::size_t kAhead = 16;
  struct Level {
    List vertices;                       ///< vertices of this process
    std::uint64_t in_all = 0;            ///< number of vertices of all processes
    std::uint64_t out_edges = 0;         ///< number of edges out of these
    bool pulled = false;                 ///< whether the next level was pulled from this one
    std::vector<KnownNumber> mirrors{};  ///< vertices of other processes on a level that was pulled from
    std::vector<Told> told{};            ///< records that have pushed the next level to this process
  };

  void start(VertexId source);
  bool open_level(List vertices);
  void record(std::vector<frontier::Superstep>& steps, std::size_t level, std::uint64_t kind,
              const std::function<void()>& work);

  bool count_paths();
  List push_paths(Level& level);
  List pull_paths(Level& level);

  void accumulate();
  bool pushes_back(const Level& level, const Level& next) const;
  void push_shares(const Level& level, const List& next);
  void pull_shares(const Level& level);
  void set_shares(const List& level, std::span<const Number> sums);
  void add_endpoints(VertexId source);

  void unmark_level(const Level& level);
  const List& unvisited();

  frontier::Job& job_;
  FrontierJob<Number> steps_;
  bool endpoints_;
  bool alone_;  ///< whether there is one worker
  BcSums* out_ = nullptr;
  topology::NodeMemory sigma_memory_, shares_memory_, sums_memory_;
  // Arrays are by KnownNumber; with a single process that is the vertex.
  std::span<Number> sigma_;   ///< number of paths to the vertex, as far as this process knows
  std::span<Number> shares_;  ///< share of each of these paths; 0: not known
  std::span<Number> sums_;    ///< sums of shares that a level has pulled, [local number]
  SharedBits visited_;        ///< vertices whose level is known here
  SharedBits in_level_;       ///< level whose vertices are looked for among targets; else empty
  std::vector<Level> levels_;
  std::optional<List> unvisited_;      ///< vertices that the last pull has looked at
  std::uint64_t unvisited_edges_ = 0;  ///< number of edges out of vertices that no process has reached
  bool too_many_ = false;              ///< whether a vertex of any process has too many paths
};

}  // namespace edgewire::kernels
