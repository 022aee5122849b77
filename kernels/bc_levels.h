// Brandes's sums from a source, level by level, as bc.h has them; all workers and processes share each level.
//
// A level is computed from the side that has fewer edges, as in bfs.h: from the level before (push) or, in
// graphs that store every edge both ways, from the vertices that are not visited yet (pull). Backward, a
// level pulls shares from the level behind it, or that one pushes its shares into it.
//
// Over the wire. Push forward: a process sums up sigma for a vertex of another process and sends the sum
// once. Backward, the owner answers with the vertex's share, so edges are never followed against their
// direction. Pull forward: processes get sigma of the vertices of the level before that they know, as
// mirrors; backward, they push shares along the same edges, summed up as above. A record has the place of its
// vertex in the order that both processes know.
//
// bc_forward.cpp has the levels forward, bc_backward.cpp those backward.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/error.h"
#include "edgewire/detail/memory.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/bc.h"
#include "kernels/bc_records.h"

namespace edgewire::kernels {

/// Counts paths in a Number: double or Scaled.
template <class Number>
class BcLevels final : public BcSearch {
 public:
  /// Memory: two Numbers for each vertex that the process knows and one for each owned one, and for each
  /// vertex that a source reaches 4, and 8 more where another process has it as a neighbour. The job has
  /// WideRecords; a Scaled takes two. `endpoints`: a path lies on its first and its last vertex, too. `job`
  /// outlives it.
  BcLevels(frontier::Job& job, bool endpoints);

  bool add(VertexId source, BcSums& sums) override;

 private:
  using List = std::span<const KnownNumber>;
  static constexpr std::size_t kItemsAtOnce = 64;  ///< the items that a worker takes
  static constexpr std::size_t kAhead = 16;  ///< numbers that are fetched into the cache before they are used
  static constexpr std::uint64_t kFewEdges = 1 << 12;  ///< are followed sooner than workers wake up

  /// Says that `peer` has predecessors of an owned vertex. Both know the vertex by its index in
  /// Boundary::known_by().
  struct RemotePredecessors {
    LocalNumber vertex;
    std::uint32_t index;
    int peer;
  };
  /// A worker finds these while a level is reached.
  struct alignas(128) Worker {
    std::vector<KnownNumber> owned;     ///< reached vertices of this process
    std::vector<KnownNumber> boundary;  ///< reached vertices of other processes
    std::vector<KnownNumber> mirrors;   ///< vertices of other processes on the level before, in a pull
    std::vector<RemotePredecessors> predecessors;  ///< those of `owned`
    std::vector<LocalNumber> unvisited;            ///< the vertices whose rows a pull reads next
    std::uint64_t edges = 0;                       ///< the edges out of `owned`
    std::uint64_t followed = 0;                    ///< the edges that it has followed
    bool too_many = false;                         ///< a vertex has too many paths
  };
  /// A level, and what it has in all processes.
  struct Level {
    std::uint64_t vertices = 0, edges = 0;
    bool pulled = false;  ///< the next level was reached by pulling from this one
  };
  /// Lists that belong to levels, one after the other.
  template <class Item>
  struct ByLevel {
    std::vector<Item> items;
    std::vector<std::size_t> begins{0};  ///< [level]; and the end of the last one

    void clear() {
      items.clear();
      begins = {0};
    }
    void end_level() { begins.push_back(items.size()); }
    /// Returns the items of the level that has not ended.
    std::span<Item> open() noexcept { return std::span(items).subspan(begins.back()); }
    std::span<const Item> of(std::size_t l) const noexcept {
      return std::span(items).subspan(begins[l], begins[l + 1] - begins[l]);
    }
  };

  void start(VertexId source);
  bool end_level();
  void record(std::vector<frontier::Superstep>& steps, std::size_t level, std::uint64_t kind,
              const std::function<void()>& work);

  bool count_paths();
  void count_by_push(std::size_t level);
  void send_paths(int lane);
  void count_by_pull(std::size_t level);
  void mirror_paths(int lane);
  std::span<const LocalNumber> take_unvisited(std::vector<LocalNumber>& taken);
  void visit(Worker& worker);

  void accumulate();
  bool pushes_back(std::size_t level) const;
  void accumulate_by_push(std::size_t level);
  void send_sums(int lane, List mirrors);
  void accumulate_by_pull(std::size_t level);
  void send_shares(int lane, std::span<const RemotePredecessors> predecessors);
  void set_shares(List level, std::span<const Number> sums);
  void add_endpoints(VertexId source);

  /// Calls work(number) for each bit of word `w` of a set, ascending.
  template <class Work>
  static void for_each_bit(std::size_t w, Bits::Word word, const Work& work) {
    for (; word != 0; word &= word - 1)
      work(static_cast<std::uint32_t>(w * Bits::kBits) + static_cast<std::uint32_t>(std::countr_zero(word)));
  }
  /// Sorts a level, so that its rows and sums are read in their order in memory. A short list stays as it is,
  /// except where its rows are on disks.
  void sort(std::span<KnownNumber> vertices) {
    if (vertices.size() < owned_words_ / 4) {
      if (job_.on_disks()) std::ranges::sort(vertices);
      return;
    }
    in_level_.add_all(vertices);
    auto out = vertices.begin();
    for (std::size_t w = 0; w < owned_words_; ++w)
      for_each_bit(w, in_level_.word(w), [&](std::uint32_t v) { *out++ = KnownNumber(v); });
    in_level_.clear_words_of(vertices);
  }
  Worker& worker(int lane) noexcept { return workers_[static_cast<std::size_t>(lane)]; }
  /// Returns the owned vertex with this index in the order that the peer knows.
  LocalNumber owned_vertex(int peer, std::uint32_t index) const {
    const auto known = job_.boundary().known_by(static_cast<std::uint32_t>(peer));
    if (index >= known.size()) throw Error("a process has sent a vertex that does not exist");
    return known[index];
  }
  /// Returns the boundary vertex with this index in the order that its owner knows.
  KnownNumber boundary_vertex(int peer, std::uint32_t index) const {
    const auto owner = static_cast<std::uint32_t>(peer);
    if (index >= job_.boundary().count(owner)) throw Error("a process has sent a vertex that does not exist");
    return KnownNumber(job_.boundary().first(owner) + index);
  }
  template <class Take>
  void send_to_owner(int lane, KnownNumber v, const Number& number, const Take& take) {
    const std::uint32_t owner = job_.boundary().home(v).owner;
    records_.send(lane, static_cast<int>(owner), v - job_.boundary().first(owner), number, take);
  }
  /// Adds to a sum that several workers share, and returns what it was before.
  Number add_to(Number& sum, const Number& more) const noexcept {
    if (!alone_) return add_shared(sum, more);
    const Number before = sum;
    sum = before + more;
    return before;
  }

  /// Runs work(lane) on all workers, or on the first one alone where so many edges are few.
  void run_workers(std::uint64_t edges, const std::function<void(int)>& work) {
    awake_ = !job_.is_only() || edges >= kFewEdges;  // others wait for each lane
    next_ = 0;
    if (awake_)
      job_.pool().run(work);
    else
      work(0);
  }
  /// Waits between two loops that the workers share, in run_workers(). The last worker that arrives runs
  /// `last`.
  void barrier(const std::function<void()>& last = [] {}) {
    const auto next_loop = [&] {
      next_ = 0;
      last();
    };
    if (awake_)
      job_.pool().barrier(next_loop);
    else
      next_loop();
  }
  /// Calls work(i) for all of so many items that the workers share.
  template <class Work>
  void for_each_shared(std::size_t items, const Work& work) {
    for (std::size_t at = next_.fetch_add(kItemsAtOnce); at < items; at = next_.fetch_add(kItemsAtOnce))
      for (std::size_t i = at; i < std::min(at + kItemsAtOnce, items); ++i) work(i);
  }

  frontier::Job& job_;
  NumberRecords<Number> records_;
  bool endpoints_;
  bool alone_;  ///< there is one worker
  BcSums* out_ = nullptr;
  topology::NodeMemory sigma_memory_, shares_memory_, sums_memory_;
  // Arrays are by KnownNumber; with a single process that is the vertex.
  std::span<Number> sigma_;   ///< the paths to the vertex, as far as this process knows
  std::span<Number> shares_;  ///< the share of each of these paths; 0: not known
  std::span<Number> sums_;    ///< [local number]: what a level has pulled, sums of shares
  SharedBits visited_;        ///< the vertices whose level is known here
  SharedBits in_level_;       ///< the level whose vertices are looked for among targets; else empty
  std::size_t owned_words_;   ///< the words that have the bits of owned vertices
  std::vector<Level> levels_;
  ByLevel<KnownNumber> order_;    ///< reached vertices of this process
  ByLevel<KnownNumber> mirrors_;  ///< vertices of others on the level before, where that was pulled
  ByLevel<RemotePredecessors> predecessors_;  ///< those of vertices in order_, where these were pushed
  std::vector<KnownNumber> boundary_;         ///< reached vertices of other processes
  std::uint64_t unvisited_edges_ = 0;         ///< the edges out of vertices that no process has reached
  bool much_of_boundary_ = false;             ///< this level has reached much of the boundary
  bool too_many_ = false;                     ///< a vertex of any process has too many paths
  bool awake_ = false;                        ///< all workers run, not the first one alone
  std::vector<Worker> workers_;
  std::atomic<std::size_t> next_{0};  ///< the next item of the loop that workers share
};

}  // namespace edgewire::kernels
