// A sequential run of scc for processes with one worker each, which counts what they send to each other. See
// kernels/scc.h for the method. It shares no code with the kernel but the choices that this
// makes: the vertex to search from, when a round pays, and the colours.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/count.h"
#include "partition/ownership.h"

namespace edgewire::kernels {

class SccRun {
 public:
  /// Makes the run for a directed graph. Memory: about 40 bytes for each vertex and 8 for each edge that may
  /// be on another cycle than those of the largest component, and what count_breadth_first() takes. Both
  /// outlive it.
  SccRun(const graph::GraphFile& graph, const partition::Ownership& ownership);

  /// Counts the run. It is called once.
  RecordLoad count();

 private:
  static constexpr PlainId kNone = kNoVertex;
  /// The edges in one direction, of all vertices.
  struct Rows {
    std::vector<std::uint64_t> begins;
    std::vector<std::uint32_t> lengths;
    std::vector<VertexId> ends;
    /// The counts of edges that trimming has left.
    std::vector<std::uint32_t> counts;

    std::span<const VertexId> of(VertexId v) const { return {ends.data() + begins[v], lengths[v]}; }
    void make_room();
    void add(VertexId v, VertexId end) { ends[begins[v] + lengths[v]++] = end; }
    void leave_out(const std::vector<PlainId>& colours);
  };

  bool labelled(VertexId v) const { return labels_[v] != kNone; }
  void start_with_giant();
  std::vector<bool> search_forward(VertexId pivot, bool& all_reached);
  std::vector<bool> search_backward(VertexId pivot, const std::vector<bool>& reached, bool& all_joined);
  void keep_rows();
  template <class Visit>
  void each_edge(const Visit& visit) const;
  std::uint64_t survey();
  bool stacked() const;
  void trim();
  void lower(Rows& rows, VertexId v);
  void spread_colours();
  void spread(std::uint32_t process);
  bool raise(PlainId& colour, PlainId value) const;
  void gather_colours();
  void join(VertexId v, PlainId colour, std::vector<VertexId>& stack);
  void tell_colours();
  void collect();
  void name_members();

  const graph::GraphFile& graph_;
  const partition::Ownership& ownership_;
  std::uint32_t processes_;
  std::uint64_t vertices_;
  RecordLoad load_;
  std::vector<std::uint32_t> owners_;  ///< [vertex]
  std::vector<PlainId> labels_;        ///< likewise
  std::vector<PlainId> colours_;       ///< [vertex]: as its owner knows it
  /// [process]: colours of other processes' vertices that it has raised
  std::vector<std::unordered_map<PlainId, PlainId>> raised_;
  std::vector<std::vector<VertexId>> stacks_;  ///< [process]
  std::vector<VertexId> members_;
  Rows out_, in_;
  VertexId giant_{kNone};
  /// A process sends messages at the end of a superstep; they reach their vertices in the next one.
  struct Message {
    VertexId vertex;
    PlainId value;
  };
  std::vector<Message> messages_;
};

}  // namespace edgewire::kernels
