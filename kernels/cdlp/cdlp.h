// Communities by label propagation, as LDBC Graphalytics defines it: the method of Raghavan, Albert and
// Kumara (Near linear time algorithm to detect community structures in large-scale networks, Physical Review
// E 76, 2007), made deterministic. Each vertex starts with a label of its own. In each round all vertices at
// once take the label that is most frequent among their neighbours, the smallest of those on a tie.
//
// A vertex none of whose neighbours has a new label keeps its own, and its labels are not counted. The labels
// around others are counted in a hash table of the row's size, unless they are few or one label, that of most
// vertices, has more than half of them.
//
// Processes send the labels that have changed, to those processes that own a neighbour of the vertex: each
// with its place in the order that both know.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/frontier.h"
#include "frontier/both_rows.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/cdlp/vote_table.h"
#include "kernels/leading_label.h"

namespace edgewire::kernels {

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
  bool changed_anywhere();

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
