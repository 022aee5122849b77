// The edges that may still be on a cycle, in both directions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_job.h"

namespace edgewire::kernels {

/// The rows of kept edges. An edge is kept where both ends are on the same side and not gone; loops are not.
/// Vertices that are known to be in one component are one vertex here, to which all their edges go.
///
/// The vertices that edges lead to or come from have numbers here: owned ones their local numbers, and those
/// of other processes follow, ascending by id.
class RestRows {
 public:
  /// The sides of vertices. kMerged: the vertices that are one with a vertex on the side kReached.
  static constexpr std::uint8_t kGone = 0, kReached = 1, kOther = 2, kMerged = 3;
  static constexpr VertexId kNoVertex{edgewire::kNoVertex};

  /// Makes the rows. `sides`: by the numbers of the job's boundary, of all vertices that this process knows.
  /// `merged`: the vertex that kMerged stands for, or kNoVertex; the same in all processes. An edge that is
  /// kept travels once from the owner of its row to that of its other end, and once more to the owner of
  /// `merged` where it comes from there. Memory: 24 bytes for each owned vertex, 8 for each edge that is kept
  /// between two of them, 4 for one to or from another process, 4 for each vertex of others that these have;
  /// meanwhile 4 for each boundary vertex and 8 for each edge that has travelled. The job has made its rows.
  /// Collective, while workers rest; throws Error.
  RestRows(frontier::Job& job, std::span<const std::uint8_t> sides, VertexId merged);

  /// Returns the vertices at the other ends of an owned vertex's edges, once for each edge.
  std::span<const KnownNumber> out(LocalNumber local) const noexcept { return out_.of(local); }
  std::span<const KnownNumber> in(LocalNumber local) const noexcept { return in_.of(local); }

  /// Returns the number of numbers.
  std::uint32_t numbers() const noexcept { return owned_ + static_cast<std::uint32_t>(others_.size()); }
  /// Returns a vertex of another process.
  VertexId other(KnownNumber number) const noexcept { return others_[number - owned_]; }
  /// Returns the number of a vertex that a process has sent. Throws Error when it has no number.
  KnownNumber number_of_other(VertexId vertex) const;

  /// Leaves out the edges of a vertex that do not lead to its own colour, or all where that is `gone`. Any
  /// worker may call it, for vertices that no other one uses. `colours`: by number.
  void leave_out(LocalNumber local, std::span<const PlainId> colours, PlainId gone) {
    out_.leave_out(local, colours, gone);
    in_.leave_out(local, colours, gone);
  }

 private:
  struct Rows {
    std::vector<std::uint64_t> begins;   ///< starts of rows, [local]
    std::vector<std::uint32_t> lengths;  ///< lengths of rows, [local]
    std::vector<KnownNumber> ends;

    std::span<const KnownNumber> of(LocalNumber local) const noexcept {
      return {ends.data() + begins[local], lengths[local]};
    }
    std::uint32_t count(LocalNumber local);
    void add(LocalNumber local, KnownNumber end) { ends[begins[local] + count(local)] = end; }
    void make_room();
    void leave_out(LocalNumber local, std::span<const PlainId> colours, PlainId gone);
  };
  /// An end of an edge: its home, and its number at the job's boundary unless it is merged.
  struct End {
    Home home;
    KnownNumber known;
    bool merged;
  };
  /// Edges that have come: the local number of the one end, and the other end.
  using Came = std::vector<std::vector<frontier::Record>>;  // edges by lane
  template <class Work>
  void each_edge(int lane, const Work& work) const;
  VertexId vertex(const End& end) const;
  KnownNumber number(const End& end) const;
  template <class Count>
  void exchange(Rows& rows, Came& came, const Count& count);
  void count(const End& from, const End& to);
  void mark(const End& end) noexcept;
  void number_others(const Came& in, const Came& out);
  void fill(const Came& in, const Came& out);

  frontier::Job& job_;
  std::span<const std::uint8_t> sides_;  ///< sides, during construction
  VertexId merged_;
  Home merged_home_{};
  std::uint32_t rank_, owned_;
  Rows out_, in_;
  std::vector<VertexId> others_;  ///< vertices of other processes, ascending
  /// Numbers here of boundary vertices, [known number - owned], during construction; 0: none.
  std::vector<std::uint32_t> others_of_;
};

}  // namespace edgewire::kernels
