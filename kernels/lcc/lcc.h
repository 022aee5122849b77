// Local clustering coefficients, and with them the number of triangles (Schank, Wagner: "Finding, counting
// and listing all triangles in large graphs", 2005; Latapy: "Main-memory triangle computations for very large
// (sparse (power-law)) graphs", 2008). Each edge is kept once, in the oriented row of its end with the larger
// number. Two entries v and w of the row of u are a wedge; it is a triangle where w is in the row of v, too.
// So each triangle is found once, at its corner with the largest number, and credited to all three, unless
// only their number is wanted.
//
// A process looks for the triangles whose corner with the largest number it owns: first in the rows of its
// own vertices, then in those of boundary vertices, which come from their owners in batches. Each process
// adds up its credits to vertices of others, and sends at most one record for each of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/lcc/oriented_rows.h"

namespace edgewire::kernels {

/// The bits of hubs, which have the smallest numbers, so most edges. Memory: that of rows, at most 64 MiB.
class HubBits {
 public:
  /// Makes bits of a batch, whose rows have at least `entries`; none where rows are not by_degree().
  HubBits(const OrientedRows& rows, const ForEach& for_each, const RowBatch& batch, std::uint64_t entries)
      : first_(batch.first), hubs_(batch.first) {
    constexpr std::uint32_t kMost = 1 << 15, kRowsAtOnce = 256;
    if (!rows.by_degree()) return;
    const auto words_of = [&](std::uint32_t hub) -> std::size_t {
      return rows.row(hub, batch).empty() ? 0 : (hub + 31) / 32;
    };
    begin_.push_back(0);
    for (; hubs_ < std::min(kMost, batch.last) && begin_.back() + words_of(hubs_) <= entries; ++hubs_)
      begin_.push_back(begin_.back() + words_of(hubs_));
    words_.reset(new std::uint32_t[begin_.back()]);
    for_each_piece(for_each, begin_.size() - 1, kRowsAtOnce, [&](int, std::uint32_t from, std::uint32_t to) {
      std::fill(words_.get() + begin_[from], words_.get() + begin_[to], 0U);
      for (std::uint32_t i = from; i < to; ++i)
        for (const std::uint32_t entry : rows.row(first_ + i, batch))
          words_[begin_[i] + entry / 32] |= std::uint32_t{1} << entry % 32;
    });
  }

  /// Returns the number below which vertices have bits.
  std::uint32_t hubs() const noexcept { return hubs_; }
  /// Returns the row of a hub: a bit for each smaller number. The row must be in the batch.
  const std::uint32_t* words(std::uint32_t hub) const noexcept { return words_.get() + begin_[hub - first_]; }

 private:
  std::uint32_t first_, hubs_;
  std::vector<std::size_t> begin_;  ///< first words of the hubs, [hub - first_], and the end
  std::unique_ptr<std::uint32_t[]> words_;
};

/// The vertex in work, u, keeps a mark of each other vertex v: whether v is its neighbour, whether edges lead
/// both ways between them, and the credit of v for triangles of u. All are in one word, so that a look at v
/// and its credit take one access to memory: bit 31 and bit 30 are the flags, the others are the credit.
class NeighbourMark {
 public:
  NeighbourMark() = default;  ///< makes the mark of a vertex that is no neighbour
  explicit NeighbourMark(bool both_ways) noexcept : word_(kNeighbour | (both_ways ? kBothWays : 0)) {}
  /// Returns 1 or 0, to multiply by, so that no branch depends on what is found.
  std::uint32_t is_neighbour() const noexcept { return word_ / kNeighbour; }
  /// Returns 1 for a neighbour with edges both ways, else 0.
  std::uint32_t both_ways() const noexcept { return word_ / kBothWays & 1; }
  void add_credit(std::uint32_t credit) noexcept { word_ += credit; }
  std::uint32_t credit() const noexcept { return word_ % kBothWays; }

 private:
  // No row has over sqrt(2 m) < 2^23 entries, and no credit is over 4 times that: it never reaches bit 30.
  static constexpr std::uint32_t kNeighbour = std::uint32_t{1} << 31, kBothWays = std::uint32_t{1} << 30;
  std::uint32_t word_ = 0;
};

class Lcc {
 public:
  /// The values of Superstep::kind. In kOrient `edges` has all own edges, in kIntersect entries looked up.
  static constexpr std::uint64_t kOrient = 0, kIntersect = 1, kCredit = 2;

  /// The sizes of pieces, which tests make smaller: the bits of a credit that travel at a time, 1 to 32, and
  /// the words of a batch; 0 stands for BoundaryRows::batch_words().
  struct Pieces {
    unsigned record_bits = 32;
    std::uint64_t batch_words = 0;
  };

  /// The result that a run finds, beside the number of all triangles.
  enum class Wanted {
    coefficients,  ///< the coefficient of each vertex
    triangles,     ///< the triangles of each vertex
    count          ///< nothing: no credits are kept or sent
  };

  /// Makes the kernel. `job` outlives it.
  Lcc(frontier::Job& job, Wanted wanted, const Pieces& pieces);
  explicit Lcc(frontier::Job& job, Wanted wanted = Wanted::coefficients) : Lcc(job, wanted, Pieces{}) {}

  /// Runs the kernel. Collective; throws Error. Memory: that of OrientedRows, HubBits and BoundaryRows, 8
  /// bytes for each known vertex where there are credits, and 4 for each worker and known vertex.
  std::vector<frontier::Superstep> run();
  // Call the next functions after run().

  /// Returns, by local number, the number of edges from a neighbour to a neighbour, in relation to the number
  /// that there could be; where coefficients were wanted.
  std::vector<double> coefficients() const;
  /// Returns, by local number, the number of triangles with the vertex as a corner, where these were wanted.
  std::vector<std::uint64_t> triangles_of_vertices() const;
  /// Returns the number of triangles of the whole graph without its directions.
  std::uint64_t triangles() const noexcept { return triangles_; }
  /// Returns the pairs of neighbours of owned vertices, d (d - 1) / 2 each, which could close triangles.
  double pairs_of_neighbours() const;

 private:
  using Row = OrientedRows::Row;
  struct alignas(128) Worker {
    std::vector<NeighbourMark> marks;  ///< marks, [number]; made when needed
    /// The credits of the neighbours besides those in marks, [place in the row of the vertex in work].
    std::vector<std::uint32_t> row_credits;
    std::uint64_t vertices = 0, edges = 0, triangles = 0;
  };

  void orient();
  void intersect();
  void intersect_with(const RowBatch& batch, std::uint64_t entries, std::uint64_t pass, std::uint64_t passes);
  void fetch_ahead(std::uint32_t number, const RowBatch& batch) const;
  template <bool kCredited>
  void find_triangles(Worker& worker, std::uint32_t u, const RowBatch& batch);
  void find_directed_triangles(Worker& worker, std::uint32_t u, const RowBatch& batch);
  void mark(Worker& worker, Row row, std::span<const std::uint8_t> both_ways) const;
  void unmark(Worker& worker, Row row);
  void add_credit(std::uint32_t number, std::uint64_t credit) {
    if (credit > 0) credits_[number].fetch_add(credit, std::memory_order_relaxed);
  }
  std::uint64_t credit_of(LocalNumber local) const;
  void send_credits();

  frontier::Job& job_;
  Wanted wanted_;
  bool directed_;  ///< whether coefficients are wanted where edges have a direction
  Pieces pieces_;
  ForEach for_each_;  ///< loop that runs work on all workers, while the link goes on
  std::optional<OrientedRows> rows_;
  std::optional<HubBits> hubs_;  ///< hubs of the batch in work, where edges are without direction
  topology::NodeMemory credits_memory_;
  /// Numbers of triangles that were found here, or of edges between neighbours where `directed_`, [number].
  std::span<std::atomic<std::uint64_t>> credits_;
  std::vector<Worker> workers_;
  frontier::SuperstepLog log_;
  std::uint64_t triangles_ = 0;
};

}  // namespace edgewire::kernels
