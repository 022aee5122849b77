// Breadth-first search by levels that turns around where that is less work (Beamer, Asanovic, Patterson:
// "Direction-optimizing breadth-first search", 2012).
//
// A push superstep follows the edges of the frontier. A pull superstep looks for each vertex that was not
// reached yet whether one of its neighbours is in the frontier, and stops at the first one. Pulling needs
// the edges in both directions, so it is for symmetric graphs only.
//
// Between processes a push sends (vertex, parent) records, and a process names each vertex at most once in
// the whole search. Where the frontier has few edges, the next superstep pushes, and what all processes have
// followed is known at its end, at no cost.
//
// With by_source.h each worker searches from sources of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "disk/memory_budget.h"
#include "edgewire/detail/memory.h"
#include "edgewire/frontier.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "process/top_k.h"

namespace edgewire::kernels {

class Bfs {
 public:
  /// The level and the parent of vertices that no path reaches.
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr PlainId kNoParent = kNoVertex;
  /// The values of Superstep::kind.
  static constexpr std::uint64_t kPush = 0, kPull = 1;

  enum class Parents { none, any, smallest };
  /// Returns the memory of parents, beside levels and lists.
  static constexpr disk::VertexBytes parent_bytes(Parents parents) noexcept {
    return {parents == Parents::none ? 0 : sizeof(PlainId),
            parents == Parents::smallest ? sizeof(Reached) : 0};
  }

  /// The sums over all processes that decide whether the next superstep pulls or pushes.
  struct State {
    bool pulled = false;       ///< whether the last superstep pulled
    std::uint64_t levels = 0;  ///< number of levels whose vertices are counted here; the frontier is the last
    std::uint64_t frontier = 0;        ///< number of its vertices
    std::uint64_t before = 0;          ///< number of vertices of the level before it
    std::uint64_t frontier_edges = 0;  ///< number of edges out of the frontier
    std::uint64_t unseen_edges = 0;    ///< number of edges out of vertices that are not reached yet

    /// Advances to the next level.
    void advance(const Totals& next) {
      ++levels;
      before = frontier;
      frontier = next.vertices;
      frontier_edges = next.edges;
      unseen_edges -= next.edges;
    }
  };
  /// Returns whether the next superstep pulls, when all vertices that the last one has reached are counted.
  static bool wants_pull(const Graph& graph, const State& state, bool on_disks);
  /// Returns whether processes push again from what they reach, without counting it first.
  static bool goes_on(const Graph& graph, const State& state) {
    return state.frontier_edges <= frontier::few_edges(graph);
  }

  /// Makes the kernel. Memory: 4 bytes for each owned vertex, and with parents those of an id more; for the
  /// smallest ones as many for each boundary vertex. 2 bits for each vertex that the process knows, 3 where
  /// it pulls, and 2 more for each owned one; 2 bytes where workers hand over. `job` outlives it.
  Bfs(frontier::Job& job, Parents parents);

  /// Searches from `source`. It may be called again. `enough` is called before each superstep, perhaps
  /// several times, with the same result in all processes; where it is true the search ends although more
  /// could be reached. Collective; throws Error.
  std::vector<frontier::Superstep> run(VertexId source, const std::function<bool(const State&)>& enough = {});

  /// Returns the edges out of all vertices that the last search has reached, in all processes.
  std::uint64_t reached_edges() const noexcept { return job_.graph().edges() - state_.unseen_edges; }
  /// Returns, by local number, the fewest edges of a path from the source.
  const std::vector<std::uint32_t>& levels() const noexcept { return levels_; }
  /// Returns, by local number, the vertex before it on such a path; the source is its own parent. It is empty
  /// unless asked for. With Parents::any timing decides which one of several it is.
  const std::vector<PlainId>& parents() const noexcept { return parents_; }

 private:
  using Word = std::uint64_t;
  using List = std::vector<LocalNumber>;
  template <bool kSmallest>
  struct Hear;
  /// The vertices that edges of this process reach.
  struct Reached {
    std::uint32_t level = kNone;
    PlainId parent = kNoParent;
  };
  static constexpr std::uint32_t kBits = 64;

  void reset();
  List start(VertexId source);
  List push(List frontier);
  List pull(const List& frontier);
  bool goes_on_after(const Followed& done);
  bool wants_pull() const { return wants_pull(job_.graph(), state_, job_.on_disks()); }
  bool is_enough() const { return enough_ && enough_(state_); }
  bool ends() const { return state_.frontier == 0 || is_enough(); }
  void find_isolated();
  /// Returns whether this call was the first that reaches the vertex with this number.
  bool claim(KnownNumber number) noexcept;

  frontier::Job& job_;
  std::uint64_t vertices_ = job_.graph().vertices();
  bool smallest_;  ///< whether a parent is the smallest one
  frontier::SuperstepLog log_;
  FrontierJob<PlainId> search_;
  /// The bits, by KnownNumber, of vertices not reached by this process, or not yet named to owners.
  topology::NodeMemory unseen_memory_;
  std::span<Word> unseen_;
  std::vector<Word> isolated_;  ///< bits of the owned vertices without edges; empty until the first pull
  std::vector<std::uint32_t> levels_;
  std::vector<PlainId> parents_;
  /// Parents of boundary vertices, [KnownNumber, from 0], where parents are the smallest.
  std::vector<Reached> others_;
  std::function<bool(const State&)> enough_;
  std::uint32_t level_ = 0;  ///< level of the frontier that a push or a pull begins with
  State state_;
  bool counted_ = true;  ///< whether the frontier is counted in state_
};

/// Returns the vertices of the path that parents define, from `source` to `target`; empty if the target has
/// no parent. `parents`: the vertices before, by local number; kNoVertex without one. The path is the same in
/// all processes. Collective; throws Error, also when the parents lead round in a circle.
std::vector<VertexId> path_to(frontier::Job& job, std::span<const PlainId> parents, VertexId source,
                              VertexId target);

/// Returns the same in one process, from the parents of all vertices, by vertex. Throws Error as above.
std::vector<VertexId> path_to(std::span<const PlainId> parents, VertexId source, VertexId target);

struct BfsQuestion {
  std::uint64_t farthest = 0;        ///< number of the farthest vertices to list
  std::optional<VertexId> target{};  ///< end of a path; the search has parents
};

/// The answer that levels give, those of a process or of all.
struct BfsAnswer {
  std::uint64_t reached = 0;  ///< number of reached vertices
  std::uint64_t depth = 0;    ///< highest level
  std::uint64_t edges = 0;    ///< number of edges out of them; rank 0 has counted those of all processes
  std::vector<process::Candidate<std::uint64_t>> farthest{};  ///< farthest vertices, by level, highest first
  std::vector<VertexId> path{};  ///< path from the source to the target; empty: there is none
};

/// Returns the part of this process, after search.run(source). All ask the same. Collective; throws Error.
BfsAnswer answer_of(frontier::Job& job, const Bfs& search, VertexId source, const BfsQuestion& question);
/// Returns the answer at rank 0, made of the parts of all processes; elsewhere the result is undefined.
/// `farthest`: as in the question. Collective; throws Error.
BfsAnswer join_answers(launch::Bootstrap& bootstrap, const BfsAnswer& mine, std::uint64_t farthest);

}  // namespace edgewire::kernels
