// Communities by label propagation, as LDBC Graphalytics defines it: the method of Raghavan, Albert and
// Kumara (Near linear time algorithm to detect community structures in large-scale networks, Physical Review
// E 76, 2007), made deterministic. Each vertex starts with a label of its own. In each round all vertices at
// once take the label that is most frequent among their neighbours, the smallest of those on a tie.
//
// A vertex none of whose neighbours has a new label keeps its own, and its labels are not counted. The labels
// around others are counted in a hash table of the row's size, unless they are few or one has more than half.
//
// Processes send the labels that have changed, to those processes that own a neighbour of the vertex: each
// with its place in the order that both know.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/bits.h"
#include "base/mixing.h"
#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/frontier.h"
#include "edgewire/numbering.h"
#include "frontier/both_rows.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/leading_label.h"

namespace edgewire::kernels {

/// A table that counts votes for labels and knows the label with the most, the smallest of those on a tie. A
/// hash table with linear probing of twice as many slots as there may be labels, or up to four times: the
/// labels around most vertices fit the L1 cache. The best is kept as votes come, and a new label takes no
/// other way, so the one branch to guess is whether a slot is another label's.
class VoteTable {
 public:
  /// The bits of a label; the count is above them.
  static constexpr int kLabelBits = 8 * sizeof(PlainId);
  __extension__ using Slot = std::conditional_t<kIds64, unsigned __int128, std::uint64_t>;

  /// Forgets all votes. At most `labels` different labels may follow, fewer than 2^32 - 1.
  void start(std::size_t labels) {
    const std::size_t slots = std::min(std::bit_ceil(std::max<std::size_t>(2 * labels, 2)), kMostSlots);
    if (slots > slots_.size()) slots_.resize(slots);
    std::fill_n(slots_.begin(), slots, Slot{0});
    mask_ = slots - 1;
    shift_ = static_cast<unsigned>(32 - std::bit_width(mask_));
    best_ = 0;
  }
  void add(std::span<const PlainId> labels) noexcept {
    Slot* const slots = slots_.data();
    const std::size_t mask = mask_;
    const unsigned shift = shift_;
    Slot best = best_;
    for (const PlainId label : labels) {
      // A slot is its count and below it the complement of its label, so that the winner has the largest one.
      const Slot key = static_cast<PlainId>(~label);
      std::size_t at = folded(label) * kGolden32 >> shift;  // Fibonacci hashing
      while ((slots[at] != 0) & (static_cast<PlainId>(slots[at]) != key)) at = (at + 1) & mask;
      slots[at] = (slots[at] | key) + kVote;
      best = std::max(best, slots[at]);
    }
    best_ = best;
  }
  /// Returns the label with the most votes, which has at least one.
  PlainId winner() const noexcept { return ~static_cast<PlainId>(best_); }

 private:
  static constexpr Slot kVote = Slot{1} << kLabelBits;
  // Number of slots that the hash can tell apart.
  static constexpr std::size_t kMostSlots = std::size_t{1} << 32;

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  Slot best_ = 0;
};

class Cdlp {
 public:
  /// Makes the kernel. Memory: a label, which is an id, and less than a byte for each vertex that the process
  /// knows, a label for each owned vertex, for each worker at most 8 labels for each edge of the vertex with
  /// the most, and BothRows. `job` outlives it. Collective; throws Error.
  explicit Cdlp(frontier::Job& job);

  /// Goes on from the labels of an earlier run, by local number, after `rounds` of them (1 or more). Call it
  /// before run(). Collective; throws Error where a label is no vertex.
  void resume(std::uint64_t rounds, std::vector<PlainId> labels);
  /// Runs `rounds` of them (1 or more), those before resume() among them, or fewer: until one changes no
  /// label. Calls after_round(rounds that are done) in all processes. Collective; throws Error.
  std::vector<frontier::Superstep> run(
      std::uint64_t rounds, const std::function<void(std::uint64_t)>& after_round = [](std::uint64_t) {});

  /// Returns the labels, which are vertices, by local number.
  const std::vector<PlainId>& labels() const noexcept { return next_; }

 private:
  struct alignas(128) Worker {
    VoteTable votes;
    std::uint64_t vertices = 0, edges = 0, changed = 0;
    std::uint64_t changed_degree = 0;  ///< number of edges of the vertices whose labels have changed
    LeadingLabel leading;
    std::uint64_t leading_degree = 0;  ///< number of out-edges of the vertices that have the leading label
  };

  using Row = std::span<const KnownNumber>;
  bool knows_only_owned() const noexcept { return known() == job_.owned(); }
  std::uint32_t known() const noexcept { return rows_.boundary().known(); }

  void round();
  bool has_news(Row neighbours) const noexcept;
  void vote(Worker& worker, LocalNumber first, LocalNumber last);
  PlainId winner(Worker& worker, Row out, Row in) const;
  bool leader_wins(Row out, Row in) const noexcept;
  template <std::size_t Most>
  PlainId winner_of_few(Row out, Row in) const;
  void count(Worker& worker, Row neighbours) const;
  void adopt();
  void find_leader();
  void mark_voters();

  frontier::Job& job_;
  frontier::BothRows rows_;
  FrontierJob<PlainId> steps_;     ///< supersteps over the boundary of rows_
  std::uint64_t owned_edges_ = 0;  ///< number of edges out of owned vertices
  topology::NodeMemory label_memory_;
  // Arrays are by KnownNumber.
  std::span<PlainId> labels_;
  std::vector<PlainId> next_;  ///< next labels, [local number]
  SharedBits news_;  ///< vertices whose label has changed in the last round; not used in the first one
  bool first_ = true;
  std::uint64_t done_ = 0;  ///< number of rounds before resume()
  /// The neighbours of news_, where marked_; else a vertex looks for news around it.
  SharedBits voters_;
  bool marked_ = false;
  /// The vertices that have the label leader_, where led_: where more than half of all edges lead to them.
  Bits led_by_;
  PlainId leader_ = 0;
  bool led_ = false;
  std::vector<Worker> workers_;
};

}  // namespace edgewire::kernels
