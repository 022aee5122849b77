// Breadth-first search by levels that turns around where that is less work (Beamer, Asanovic, Patterson:
// "Direction-optimizing breadth-first search", 2012).
//
// A push superstep follows the edges of the frontier. A pull superstep looks for each vertex that was not
// reached yet whether one of its neighbours is in the frontier, and stops at the first one. Pulling needs
// the edges in both directions, so it is for symmetric graphs only.
//
// Within a process, workers that push along few edges claim no vertices of others: each keeps some of the
// bits, and is handed what the others have found for it. Cores would pass on the cache lines of the bits for
// nearly each vertex otherwise, since a line has the bits of 512 vertices. Along more edges, workers put what
// they find into bins (bins.h), so that each line is changed by one worker at a time.
//
// Between processes a push sends (vertex, parent) records, and a process names each vertex at most once in
// the whole search. A pull first sends the frontier, a bit for each boundary vertex of the receiver. Where
// the frontier has few edges, the next superstep pushes, and what all processes have followed is known at its
// end, at no cost. Where only one process has a frontier it goes on alone, level by level, until it reaches
// a vertex of another one.
//
// bfs.cpp has the search, bfs_push.cpp its pushes, bfs_pull.cpp the pulls. With bfs_by_source.h each worker
// searches from sources of its own; bfs_answer.h has what people ask of a search besides.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/mixing.h"
#include "edgewire/detail/memory.h"
#include "frontier/frontier_job.h"
#include "frontier/push_note.h"
#include "frontier/superstep.h"
#include "kernels/bins.h"

namespace edgewire::kernels {

class Bfs {
 public:
  /// The level and the parent of vertices that no path reaches.
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr PlainId kNoParent = kNoVertex;
  /// The values of Superstep::kind.
  static constexpr std::uint64_t kPush = 0, kPull = 1;

  enum class Parents { none, any, smallest };

  /// Sums over all processes. They decide whether the next superstep pulls or pushes.
  struct State {
    bool pulled = false;               ///< the last superstep pulled
    std::uint64_t levels = 0;          ///< levels whose vertices are counted here; the frontier is the last
    std::uint64_t frontier = 0;        ///< its vertices
    std::uint64_t before = 0;          ///< those of the level before it
    std::uint64_t frontier_edges = 0;  ///< out of the frontier
    std::uint64_t unseen_edges = 0;    ///< out of vertices that are not reached yet

    /// Advances to the next level, which has so many vertices, with so many edges out of them.
    void advance(std::uint64_t vertices, std::uint64_t edges) {
      ++levels;
      before = frontier;
      frontier = vertices;
      frontier_edges = edges;
      unseen_edges -= edges;
    }
  };
  /// Returns whether the next superstep pulls, when all that the last one has reached is counted.
  static bool wants_pull(const graph::GraphFile& graph, const State& state);
  /// Returns the same where rows are on disks. A row is read as a whole, even if its first edge leads to the
  /// frontier, so the direction counts that reads fewer edges.
  static bool wants_pull_from_disks(const graph::GraphFile& graph, const State& state);
  /// Returns whether processes that have pushed from this frontier push again, and do not count first what
  /// they have reached.
  static bool goes_on(const graph::GraphFile& graph, const State& state);

  /// Memory: a bit for each vertex that the process knows, or two where it pulls, and 4 bytes for each owned
  /// vertex; with parents those of an id more, and as many for each known vertex for the smallest ones; about
  /// 2 for each vertex where the workers of a single process hand over, and their Bins. `job` outlives it.
  Bfs(frontier::Job& job, Parents parents);

  /// Searches from `source`. It may be called again. `enough`: is asked before each superstep, and answers
  /// the same in all processes; where it says true the search ends although more could be reached.
  /// Collective; throws Error.
  std::vector<frontier::Superstep> run(VertexId source, const std::function<bool(const State&)>& enough = {});

  bool is_alone() const noexcept { return !distributed_; }  ///< one process searches
  /// Returns the edges out of all vertices that the last search of a process alone has reached.
  std::uint64_t reached_edges() const noexcept { return job_.graph().edges() - state_.unseen_edges; }
  /// [local number]: the fewest edges of a path from the source.
  const std::vector<std::uint32_t>& levels() const noexcept { return levels_; }
  /// [local number]: the vertex before it on such a path; the source is its own parent. It is empty unless
  /// asked for. Parents::any: which one it is of several depends on timing.
  const std::vector<PlainId>& parents() const noexcept { return parents_; }

 private:
  using Word = Bits::Word;
  static constexpr std::uint32_t kBits = Bits::kBits;
  static constexpr std::size_t kNotedAtOnce = 64;  ///< vertices; what they need stays in the nearest cache
  static constexpr std::size_t kKept = 1024;  ///< bits side by side that one worker keeps: two cache lines
  using Found = Offer<PlainId>;               ///< a vertex, and its parent
  /// A worker keeps here what it reaches in a superstep.
  struct alignas(128) Worker {
    std::vector<LocalNumber> list;     ///< its part of the frontier
    std::vector<LocalNumber> reached;  ///< the same of the next frontier, in a push
    std::vector<std::vector<frontier::Record>>
        handed;                      ///< [worker]: (local number, parent) that this one has found for it
    std::vector<LocalNumber> taken;  ///< vertices whose rows are read
    std::vector<Found> others;       ///< vertices of other processes, to be told when all have pushed
    std::size_t noted = 0;           ///< how many of `reached` have their levels written
    std::uint64_t vertices = 0, edges = 0;
    std::uint64_t followed = 0;  ///< edges
    frontier::Active told;       ///< processes that got records of it
    alignas(128) std::atomic<std::size_t> next{
        0};  ///< index of the first one in `list` that no worker has taken
  };

  void reset();
  void start(VertexId source);
  void leave_out_isolated();
  bool push(const frontier::PushNote& mine, bool alone);
  bool push_alone();
  void sort_lists();
  bool end_push(const frontier::PushNote& mine, frontier::Superstep& done,
                std::vector<frontier::Superstep>& all);
  frontier::PushNote sum_of_notes(const frontier::PushNote& mine) const;
  void note_held_back();
  void name_parents(const Worker& worker);
  void pull();
  void list_to_bits();
  void bits_to_list();
  void superstep(std::vector<frontier::Superstep>& all);
  frontier::Superstep begin_level(frontier::PushNote& mine) noexcept;
  void total();
  bool wakes() const noexcept;
  // `known`: a Boundary::Known or AllKnown.
  std::span<const LocalNumber> take_rows(int lane);
  template <class Known>
  void push_from(int lane, bool woken, const Known& known);
  void finish_push(int lane, bool woken, const frontier::PushNote& note);
  void take_record(Worker& worker, frontier::Record record);
  template <class Known>
  void push_to_keepers(int lane, const Known& known);
  void note_reached(Worker& worker);
  void fetch_rows(std::size_t w, const frontier::KnownRows& rows) const;
  void pull_into(int lane, std::atomic<std::size_t>& next);
  void pull_from_disks(int lane, std::atomic<std::size_t>& next);
  bool look(Worker& worker, LocalNumber local, std::span<const KnownNumber> sources);
  void share_frontier(int lane);
  void add_to_frontier(std::uint32_t number, Word bits);
  void next_lists();
  void reach(Worker& worker, LocalNumber local, PlainId parent);
  /// Proposes a parent for the vertex with this number, with Parents::smallest. `shared`: as for claim().
  void propose(std::size_t number, PlainId parent, bool shared) noexcept;
  /// Returns the vertex of the lowest bit of a word of owned vertices.
  static LocalNumber lowest(std::size_t word, Word bits) noexcept {
    return LocalNumber(static_cast<std::uint32_t>(word * kBits) +
                       static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  /// Returns whether it may change anything to reach the vertex with this number from this parent. False is a
  /// final answer.
  bool is_news(std::size_t number, PlainId parent) const noexcept {
    if (!candidates_.empty()) return parent < candidates_[number].load(std::memory_order_relaxed);
    return (unseen_[number / kBits].load(std::memory_order_relaxed) >> number % kBits & 1) != 0;
  }
  /// Returns whether this call was the first that reaches the vertex with this number. `shared`: other
  /// workers may claim vertices of the same word at this time.
  bool claim(std::size_t number, bool shared) noexcept;
  bool frontier_bit(LocalNumber local) noexcept {
    return (std::atomic_ref(bits_[local / kBits]).load(std::memory_order_relaxed) >> local % kBits & 1) != 0;
  }
  /// Returns the bits of owned vertices in this word.
  Word owned_bits(std::size_t word) const noexcept {
    const std::size_t left = job_.owned() - word * kBits;
    return left >= kBits ? ~Word{0} : (Word{1} << left) - 1;
  }
  /// Returns the worker that keeps the bit of the vertex at this position, where workers hand over what they
  /// find.
  std::size_t keeper(std::size_t position) const noexcept {
    const auto spread = static_cast<std::uint32_t>(position / kKept * kGolden32);
    return spread * workers_.size() >> 32;
  }

  frontier::Job& job_;
  bool distributed_;
  std::uint32_t rank_;
  std::size_t owned_words_;
  /// The bits, by KnownNumber, of vertices that this process has not reached, or has not yet named to their
  /// owners.
  topology::NodeMemory unseen_memory_;
  std::span<std::atomic<Word>> unseen_;
  /// [KnownNumber]: the smallest vertex of the frontier with an edge to it; empty unless that is asked for.
  std::vector<std::atomic<PlainId>> candidates_;
  std::vector<Word> bits_;       ///< the frontier, of known vertices; empty until the first pull
  std::vector<Word> next_bits_;  ///< the next frontier, of this process
  bool in_bits_ = false;         ///< the frontier is in bits_, otherwise in the lists of the workers
  std::vector<std::uint32_t> levels_;
  std::vector<PlainId> parents_;
  std::unique_ptr<Bins<PlainId>> bins_;  ///< bins of parents, where workers push into them; else null
  std::uint32_t level_ = 0;              ///< level of the vertices that the superstep reaches
  std::vector<Worker> workers_;
  bool has_pulled_ = false;
  State state_;
  bool counted_ = true;      ///< the vertices that the last superstep has reached are in state_
  frontier::Active active_;  ///< who has a frontier, where it is not counted
  /// So many vertices of a worker have their levels written at once; with more, when the superstep is over:
  /// the level is not known before, since another process goes on alone.
  std::size_t noted_at_once_ = kNotedAtOnce;
};

}  // namespace edgewire::kernels
