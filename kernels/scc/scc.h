// Strongly connected components: two vertices are in the same one when paths lead from each to the other.
//
// 1. The component of a vertex with many edges, see giant.h. Vertices that can be reached from it and those
//    that cannot share no component, so no edge between the two matters any more (Fleischer, Hendrickson,
//    Pinar: "On identifying strongly connected components in parallel", 2000). Where only a part of it was
//    found, the part is one vertex from here on.
// 2. Trimming: a vertex without in-edges or without out-edges is a component of its own, and its edges go,
//    which may leave others without (McLendon, Hendrickson, Plimpton, Rauchwerger: "Finding strongly
//    connected components in distributed graphs", 2005). A process follows all that this brings about in it
//    at once.
// 3. Colours, where much is left (Slota, Rajamanickam, Madduri: "BFS and coloring-based parallel algorithms
//    for strongly connected components and related problems", 2014): each vertex starts with a colour of its
//    own, and along edges the larger colour wins. The vertices that end with the colour of a vertex, and from
//    which paths lead to it, are its component. Edges between colours do not matter any more; then 2 again.
//    Colours are in no order that the graph could have, so that a chain of components is halved again and
//    again.
// 4. Where few edges are left all processes get them, and each finds the components of them by itself. So a
//    path of many vertices does not take as many supersteps.
//
// In symmetric graphs these are the weakly connected components, see wcc.h.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/mixing.h"
#include "edgewire/frontier.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/scc/rest_rows.h"
#include "kernels/wcc/wcc.h"

namespace edgewire::kernels {

class Scc {
 public:
  /// The values of Superstep::kind, beside those of Wcc. `frontier` has vertices looked at.
  static constexpr std::uint64_t kForward = kWccPhases.size(), kBackward = kForward + 1, kRows = kForward + 2,
                                 kTrim = kForward + 3, kColour = kForward + 4, kGather = kForward + 5,
                                 kTell = kForward + 6, kCollect = kForward + 7, kFirst = kForward + 8;
  /// The number of edges up to which they are collected in each process: they take at most 32 MB.
  static constexpr std::uint64_t kCollected = 1 << 19;

  /// The number of supersteps of trimming before a look whether few edges are left.
  static constexpr int kTrimmedAtOnce = 64;

  // The colours of two vertices are never the same, and none is kGone.
  static constexpr PlainId kMix = static_cast<PlainId>(kIds64 ? kGolden : kGolden32);
  static constexpr PlainId kUnmix = static_cast<PlainId>(kIds64 ? 0xf1de83e19937733d : 0xe8b2f51);
  static constexpr PlainId colour_of(VertexId vertex) { return (vertex + 1) * kMix; }
  static constexpr VertexId vertex_of(PlainId colour) { return VertexId(colour * kUnmix - 1); }
  static_assert(static_cast<PlainId>(kMix * kUnmix) == 1);

  /// Makes the kernel. Memory: 8 bytes and two ids for each owned vertex, an id for each vertex that edges
  /// between processes are kept for, a byte for each vertex that the process knows; GiantComponent, and then
  /// RestRows. `job` outlives it. Rows are in memory. `collected`: see kCollected.
  explicit Scc(frontier::Job& job, std::uint64_t collected = kCollected);

  /// Runs the kernel. Collective; throws Error.
  std::vector<frontier::Superstep> run();
  /// Returns, by local number, the smallest vertex of the component. It is valid after run().
  const std::vector<PlainId>& labels() const noexcept { return labels_; }

 private:
  static constexpr PlainId kNone = kNoVertex;  // stands for no label yet
  static constexpr PlainId kGone = 0;          // colour of a vertex that is gone
  enum Way : std::uint32_t { kOut, kIn };
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0;
    std::uint64_t edges_left = 0;
    std::vector<LocalNumber> trimmed;  ///< vertices whose edges are to go
    /// Vertices for which labels_ has a vertex of the component that is not yet the first one.
    std::vector<LocalNumber> members;
    std::vector<frontier::Record> collected;
  };
  struct Left {
    std::uint64_t edges, trimmed;
  };

  /// Runs work(lane, scheme) in all workers.
  template <class Work>
  void step_in_lanes(std::uint64_t kind, const Work& work) {
    log_.step(kind, workers_, [&] {
      job_.pool().run(
          [&](int lane) { job_.ownership().visit([&](const auto& scheme) { work(lane, scheme); }); });
    });
  }
  /// Calls work(worker, local, vertex) for the owned vertices without a label.
  template <class Work>
  void for_each_left(const Work& work) {
    job_.for_each_range([&](int w, LocalNumber first, LocalNumber last) {
      job_.ownership().visit([&](const auto& scheme) {
        for (LocalNumber local = first; local < last; ++local)
          if (!labelled(local))
            work(workers_[static_cast<std::size_t>(w)], local, scheme.vertex(rank_, local));
      });
    });
  }
  /// Returns the owned vertices without a label.
  std::vector<LocalNumber> vertices_left() const;

  std::vector<std::uint8_t> start_with_giant();
  void name_merged();
  Left survey();
  void reset_counts(LocalNumber local);
  void trim();
  bool lower_count(LocalNumber local, Way way);
  void spread_colours();
  template <class Tell>
  void spread(std::span<const LocalNumber> vertices, const Tell& tell);
  void gather_colours();
  bool join(Worker& worker, LocalNumber local, PlainId colour);
  /// Tells the owner of an end of an edge of rows_.
  template <class Tell>
  void tell_end(const Tell& tell, KnownNumber end, PlainId value) const {
    if (end < labels_.size()) return tell(end, value);
    tell(job_.ownership().home(rows_->other(end)), value);
  }
  void tell_colours();
  void collect();
  void name_members();

  bool label(LocalNumber local, PlainId value) noexcept;
  bool labelled(LocalNumber local) const noexcept {
    return std::atomic_ref(const_cast<PlainId&>(labels_[local])).load(std::memory_order_relaxed) != kNone;
  }
  std::atomic_ref<PlainId> colour(std::uint32_t number) noexcept { return std::atomic_ref(colours_[number]); }
  bool raise(std::uint32_t number, PlainId value) noexcept;
  LocalNumber checked(PlainId local) const;

  frontier::Job& job_;
  std::uint64_t collected_;
  std::uint32_t rank_;
  std::vector<PlainId> labels_;
  std::optional<RestRows> rows_;
  std::vector<PlainId> colours_;  ///< colours by number of rows_
  /// Number of edges that trimming has left, [way][local].
  std::array<std::vector<std::uint32_t>, 2> counts_;
  /// The first vertex of the first component; where merged_, that of a part, for which it stands.
  VertexId giant_{kNone};
  bool merged_ = false;
  std::vector<Worker> workers_;
  frontier::SuperstepLog log_;
  FrontierJob<PlainId> frontier_{job_, &log_};
  std::vector<LocalNumber> trimmed_;  ///< vertices whose edges are to go
};

}  // namespace edgewire::kernels
