// Betweenness centrality from a source, level by level, as betweenness.h has it; all workers and processes
// share each level.
//
// A level is computed from the side that has fewer edges, as in breadth_first.h: from the level before (push)
// or, in graphs that store every edge both ways, from the vertices that are not reached yet (pull).
//
// Over the wire. Push: a process sums up what it has for a vertex of another process and sends the sum once.
// Backward, the owner answers with c, so edges are never followed against their direction. Pull: processes
// get sigma of the vertices of the level before that they know; backward, they push c along the same edges,
// summed up as above. A record has the place of its vertex in the order that both processes know.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/error.h"
#include "frontier/frontier_job.h"
#include "frontier/scaled.h"
#include "frontier/superstep.h"
#include "topology/memory.h"

namespace edgewire::frontier {

/// Whether a level of a graph that stores every edge both ways is pulled. `frontier`, `edges`: vertices of
/// the level before, and edges out of them; `unseen`: edges out of vertices that are not reached yet.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unseen, int processes);

/// What searches from several sources add to.
struct BetweennessSums {
  std::vector<double> scores;                ///< [local number]
  std::vector<Superstep> forward, backward;  ///< [level]
};

/// Counts paths in a Number: double or Scaled.
template <class Number>
class BetweennessLevels {
 public:
  enum Kind : std::uint64_t { kForward, kBackward };

  /// Memory: two Numbers for each vertex that the process knows and one for each owned one, and for each
  /// vertex that a source reaches 4, and 8 more where another process has it as a neighbour. The job has
  /// WideRecords; a Scaled takes two. `endpoints`: a path lies on its first and its last vertex, too. `job`
  /// outlives it.
  BetweennessLevels(FrontierJob& job, bool endpoints);

  /// Adds the paths that start at this vertex to `sums`, whose scores are there. False, and nothing is added
  /// to scores: there are more paths than a double can count (1e300). Collective; throws Error.
  bool add(VertexId source, BetweennessSums& sums);

 private:
  using List = std::span<const KnownNumber>;
  static constexpr std::size_t kItemsAtOnce = 64;  ///< that a worker takes
  static constexpr std::size_t kAhead = 16;  ///< numbers that are fetched into the cache before they are used
  static constexpr std::uint64_t kFewEdges = 1 << 12;  ///< are followed sooner than workers wake up
  struct Asked {
    LocalNumber vertex;
    std::uint32_t index;  ///< of the vertex in Boundary::known_by(peer)
    int peer;
  };
  struct alignas(128) Worker {
    std::vector<KnownNumber> reached;   ///< of this process
    std::vector<KnownNumber> others;    ///< of other processes
    std::vector<KnownNumber> mirrored;  ///< of other processes: their frontier, before a pull
    std::vector<LocalNumber> taken;     ///< whose rows are read from disks in a pull
    std::vector<Asked> asked;           ///< by other processes
    std::uint64_t edges = 0;            ///< of those reached
    std::uint64_t followed = 0;         ///< edges
    std::vector<double> halves;         ///< [peer]: mantissas of Scaled numbers whose exponents follow
    bool too_many = false;              ///< paths
  };

  void start(VertexId source);
  bool search();
  void answer();
  void add_endpoints(VertexId source);
  void reset();
  bool total();
  void collect();
  void sort(std::span<KnownNumber> vertices);
  void record(std::vector<Superstep>& steps, std::size_t level, Kind kind, const std::function<void()>& work);
  void run_workers(bool wake, const std::function<void(int)>& work);

  void forward_level(std::size_t level, bool pull);
  void mirror_paths(int lane);
  void pull_paths(int lane);
  void pull_path(Worker& worker, LocalNumber v, List sources);
  void pull_paths_from_disks(int lane);
  void push_paths(int lane, List frontier);
  template <class Work>
  void for_each_boundary(int lane, const Work& work) const;
  bool reached_many_others() const;
  void send_paths(int lane);
  void settle(Worker& worker);

  void pull_level(std::size_t level);
  void push_level(std::size_t level);
  void send_shares(int lane, std::span<const Asked> asked);
  void pull_shares(int lane, List level);
  void push_shares(int lane, List from);
  void send_sums(int lane, List mirrored);
  void finish_share(KnownNumber v, Number sum);
  template <class Take>
  void send(int lane, int peer, std::uint32_t index, const Number& number, const Take& take);
  template <class Take>
  void send_to_owner(int lane, KnownNumber v, const Number& number, const Take& take);
  /// The owned vertex with this index in the order that the peer knows.
  LocalNumber owned(int peer, std::uint32_t index) const {
    const auto known = job_.boundary().known_by(static_cast<std::uint32_t>(peer));
    if (index >= known.size()) throw Error("a process has sent a vertex that does not exist");
    return known[index];
  }
  /// The boundary vertex with this index in the order that its owner knows.
  KnownNumber boundary_vertex(int peer, std::uint32_t index) const {
    const auto owner = static_cast<std::uint32_t>(peer);
    if (index >= job_.boundary().count(owner)) throw Error("a process has sent a vertex that does not exist");
    return KnownNumber(job_.boundary().first(owner) + index);
  }
  template <class Take>
  void finish(int lane, const Take& take);
  template <class Take>
  auto numbers(int lane, const Take& take);

  /// Whether workers wake up to follow so many edges.
  bool wakes(std::uint64_t edges) const noexcept { return several_ || edges >= kFewEdges; }
  bool is_mine(KnownNumber v) const noexcept { return v < job_.owned(); }
  /// Adds to a sum that several workers share; returns what it was before.
  Number add(Number& sum, const Number& more) const noexcept {
    if (!alone_) return add_shared(sum, more);
    const Number before = sum;
    sum = before + more;
    return before;
  }
  /// Calls work(i) for all of so many items that the workers share.
  template <class Work>
  void share_out(std::size_t items, const Work& work) {
    for (std::size_t at = next_.fetch_add(kItemsAtOnce); at < items; at = next_.fetch_add(kItemsAtOnce))
      for (std::size_t i = at; i < std::min(at + kItemsAtOnce, items); ++i) work(i);
  }
  /// Calls work(number, targets) for the rows of a list of owned vertices that the workers share.
  template <class Work>
  void share_out_rows(int lane, List list, const Work& work) {
    const std::size_t count = job_.rows_at_once();
    job_.each_row(
        lane,
        [&] {
          const std::size_t at = std::min(next_.fetch_add(count), list.size());
          return numbered<LocalNumber>(plain(list.subspan(at, std::min(count, list.size() - at))));
        },
        [&](const KnownEdges& edges) { work(KnownNumber(edges.vertex), edges.targets); });
  }
  /// Calls work(vertex) for the owned vertices of a word of bits that have no paths yet.
  template <class Work>
  void for_each_unsettled(std::size_t word, const Work& work) const;
  /// Of `list`, what belongs to a level.
  template <class Item>
  static std::span<const Item> part(const std::vector<Item>& list, const std::vector<std::size_t>& starts,
                                    std::size_t level) noexcept {
    return std::span(list).subspan(starts[level], starts[level + 1] - starts[level]);
  }
  List level(std::size_t l) const noexcept { return part(order_, starts_, l); }

  FrontierJob& job_;
  bool endpoints_;
  bool several_, alone_;  ///< processes; one worker
  BetweennessSums* out_ = nullptr;
  topology::NodeMemory sigma_memory_, shares_memory_, sums_memory_;
  // By KnownNumber, here and below; with a single process that is the vertex.
  std::span<Number> sigma_;   ///< paths; of other processes' vertices, as far as known here
  std::span<Number> shares_;  ///< c, or 0
  std::span<Number> sums_;    ///< [local number]: of shares, while a level is computed
  SharedBits settled_;        ///< vertices whose level is known here
  SharedBits marked_;         ///< the frontier of a pull, the level that a push computes backward; else empty
  std::size_t owned_words_;   ///< of bits that have those of owned vertices
  std::vector<KnownNumber> order_;     ///< reached vertices of this process, level by level
  std::vector<KnownNumber> others_;    ///< reached vertices of other processes
  std::vector<KnownNumber> mirrored_;  ///< frontiers of other processes before pulls, level by level
  std::vector<Asked> asked_;           ///< level by level
  std::vector<std::size_t> starts_, asked_starts_;  ///< [level]: in order_ and asked_; and the ends
  std::vector<std::size_t> mirrored_starts_;        ///< [level]: in mirrored_; and the end
  std::vector<bool> pulled_;                        ///< [level]: its edges were followed from the next one
  std::vector<std::uint64_t> level_edges_;          ///< [level]: of all processes
  std::uint64_t frontier_ = 0;                      ///< vertices of the last level, of all processes
  std::uint64_t unseen_edges_ = 0;                  ///< of all processes
  std::uint64_t reached_ = 0;                       ///< vertices, of all processes
  bool too_many_ = false;                           ///< paths, in any process
  bool many_others_ = false;                        ///< vertices of other processes, reached in this level
  std::vector<Worker> workers_;
  std::atomic<std::size_t> next_{0};
};

extern template class BetweennessLevels<double>;
extern template class BetweennessLevels<Scaled>;

}  // namespace edgewire::frontier
