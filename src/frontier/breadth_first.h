// Breadth-first search by levels that turns around where that is less work (Beamer, Asanovic, Patterson:
// "Direction-optimizing breadth-first search", 2012).
//
// A push superstep follows the edges of the frontier. A pull superstep looks for each vertex that was not
// reached yet whether one of its neighbours is in the frontier, and stops at the first one. Pulling needs
// the edges in both directions, so it is for symmetric graphs only.
//
// Within a process, workers that push along few edges claim no vertices of others: each keeps some of the
// bits, and is handed what the others have found for it. Cores would pass on the cache lines of the bits for
// nearly each vertex otherwise, since a line has the bits of 512 vertices.
//
// Between processes a push sends (vertex, parent) records, and a process names each vertex at most once in
// the whole search. A pull first sends the frontier to all processes, a bit for each vertex.
//
// breadth_first.cpp has the search and its pushes, breadth_first_pull.cpp the pulls. With
// breadth_first_apart.h each worker searches from sources of its own; breadth_first_answer.h has what people
// ask of a search besides.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/mixing.h"
#include "frontier/frontier_job.h"
#include "frontier/owner_words.h"
#include "frontier/superstep.h"
#include "topology/memory.h"

namespace edgewire::frontier {

class BreadthFirst {
 public:
  /// Level and parent of vertices that no path reaches.
  static constexpr std::uint32_t kNone = 0xffffffff;
  /// Superstep::kind.
  static constexpr std::uint64_t kPush = 0, kPull = 1;

  enum class Parents { none, any, smallest };

  /// Sums over all processes. They decide whether the next superstep pulls or pushes.
  struct State {
    bool pulled = false;               ///< in the last superstep
    std::uint64_t frontier = 0;        ///< vertices that the last superstep has reached
    std::uint64_t before = 0;          ///< and the one before it
    std::uint64_t frontier_edges = 0;  ///< out of the frontier
    std::uint64_t unseen_edges = 0;    ///< out of vertices that are not reached yet

    /// The last superstep has reached so many vertices, with so many edges out of them.
    void advance(std::uint64_t vertices, std::uint64_t edges) {
      before = frontier;
      frontier = vertices;
      frontier_edges = edges;
      unseen_edges -= edges;
    }
  };
  /// Whether the next superstep pulls.
  static bool wants_pull(const graph::GraphFile& graph, const State& state);

  /// Memory: a bit for each vertex of the graph, or two where it pulls, and 4 bytes for each owned vertex, 8
  /// with parents; 4 more for each vertex of the graph for the smallest ones; about 2 for each vertex of the
  /// graph where workers hand over. `job` outlives it.
  BreadthFirst(FrontierJob& job, Parents parents);

  /// Searches from `source`. May be called again. `enough`: is asked before each superstep, and answers the
  /// same in all processes; where it says true the search ends although more could be reached. Collective;
  /// throws Error.
  std::vector<Superstep> run(VertexId source, const std::function<bool(const State&)>& enough = {});

  /// Edges out of all vertices that the last search has reached, of all processes.
  std::uint64_t reached_edges() const noexcept { return job_.graph().edges() - state_.unseen_edges; }
  /// [local number]: the fewest edges of a path from the source.
  const std::vector<std::uint32_t>& levels() const noexcept { return levels_; }
  /// [local number]: the vertex before it on such a path; the source is its own parent. Empty unless asked
  /// for. Parents::any: which one it is of several depends on timing.
  const std::vector<std::uint32_t>& parents() const noexcept { return parents_; }

 private:
  using Word = OwnerWords::Word;
  static constexpr std::uint32_t kBits = OwnerWords::kBits;
  static constexpr std::size_t kKept = 1024;  ///< bits side by side that one worker keeps: two cache lines
  /// What a worker has reached in a superstep.
  struct alignas(128) Worker {
    std::vector<LocalNumber> list;     ///< its part of the frontier
    std::vector<LocalNumber> reached;  ///< the same of the next frontier, in a push
    std::vector<std::vector<Record>>
        handed;                    ///< [worker]: (local number, parent) that this one has found for it
    std::vector<VertexId> taken;   ///< whose rows are read
    std::vector<VertexId> others;  ///< of other processes, to be sent
    std::size_t noted = 0;         ///< of reached: whose levels are written
    std::uint64_t vertices = 0, edges = 0;
    std::uint64_t followed = 0;  ///< edges
    alignas(128) std::atomic<std::size_t> next{
        0};  ///< index of the first one in `list` that no worker has taken
  };

  void reset();
  void leave_out_isolated();
  void push();
  void pull();
  void list_to_bits();
  void bits_to_list();
  Superstep superstep(bool pull);
  void total();
  bool wakes() const noexcept;
  template <class Scheme>
  std::span<const VertexId> take_rows(int lane, const Scheme& scheme);
  template <class Scheme>
  void push_from(int lane, bool woken, const Scheme& scheme);
  template <class Scheme>
  void push_to_keepers(int lane, const Scheme& scheme);
  template <class Scheme>
  void note_reached(Worker& worker, const Scheme& scheme);
  template <class Scheme>
  void fetch_rows(std::size_t w, const Scheme& scheme) const;
  template <class Scheme>
  void pull_into(int lane, std::atomic<std::size_t>& next, const Scheme& scheme);
  template <class Scheme>
  void pull_from_disks(int lane, std::atomic<std::size_t>& next, const Scheme& scheme);
  template <class Scheme>
  bool look(Worker& worker, LocalNumber local, std::span<const VertexId> sources, const Scheme& scheme);
  void share_frontier(int lane);
  void next_lists();
  template <class Scheme>
  void reach(Worker& worker, LocalNumber local, std::uint32_t parent, const Scheme& scheme);
  /// For the vertex at this position, with Parents::smallest.
  void propose(std::size_t position, std::uint32_t parent) noexcept;
  /// Of the lowest bit of a word of owned vertices.
  static LocalNumber lowest(std::size_t word, Word bits) noexcept {
    return LocalNumber(static_cast<std::uint32_t>(word * kBits) +
                       static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  /// Whether this call was the first that reaches the vertex at this position. `shared`: other workers may
  /// claim vertices of the same word at this time.
  bool claim(std::size_t position, bool shared) noexcept;
  /// The worker that keeps the bit of the vertex at this position, where workers hand over what they find.
  std::size_t keeper(std::size_t position) const noexcept {
    const auto spread = static_cast<std::uint32_t>(position / kKept * kGolden32);
    return spread * workers_.size() >> 32;
  }
  std::size_t first_word(std::uint32_t owner) const noexcept { return words_.first(owner); }
  std::size_t position(plan::Place place) const noexcept { return words_.position(place); }

  FrontierJob& job_;
  bool several_;
  std::uint32_t rank_;
  std::size_t owned_words_;
  OwnerWords words_;  ///< where the bits of vertices are
  /// Bits of vertices that this process has not reached, or has not yet named to their owners.
  topology::NodeMemory unseen_memory_;
  std::span<std::atomic<Word>> unseen_;
  /// [position]: the smallest vertex of the frontier with an edge to it; empty unless that is asked for.
  std::vector<std::atomic<std::uint32_t>> candidates_;
  std::vector<Word> bits_;       ///< the frontier, of all processes; empty until the first pull
  std::vector<Word> next_bits_;  ///< the next frontier, of this process
  bool in_bits_ = false;         ///< the frontier is in bits_, otherwise in the lists of the workers
  std::vector<std::uint32_t> levels_, parents_;
  std::uint32_t level_ = 0;  ///< of the vertices that the superstep reaches
  std::vector<Worker> workers_;
  bool has_pulled_ = false;
  State state_;
};

}  // namespace edgewire::frontier
