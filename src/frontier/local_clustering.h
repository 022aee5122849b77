// Local clustering coefficients, and with them the number of triangles: the rows of neighbours with smaller
// numbers are intersected (Schank, Wagner: "Finding, counting and listing all triangles in large graphs",
// 2005; Latapy: "Main-memory triangle computations for very large (sparse (power-law)) graphs", 2008). Each
// triangle is found once, at its corner with the largest number, and credited to all three.
//
// A process looks for the triangles whose corner with the largest number it owns: first in the rows of its
// own vertices, then in those of boundary vertices, which come from their owners in batches. Each process
// adds up what it credits to vertices of others, and sends at most one record for each of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "frontier/boundary_rows.h"
#include "frontier/frontier_job.h"
#include "frontier/hub_bits.h"
#include "frontier/oriented_rows.h"
#include "frontier/superstep.h"

namespace edgewire::frontier {

class LocalClustering {
 public:
  /// Superstep::kind. In kOrient `edges` has the edges of the owned vertices, in kIntersect those entries of
  /// rows that were looked up.
  static constexpr std::uint64_t kOrient = 0, kIntersect = 1, kCredit = 2;

  /// For tests: a credit travels in pieces of so many bits, 1 to 32; see BoundaryRows::batch_words(), 0:
  /// that.
  struct Pieces {
    unsigned record_bits = 32;
    std::uint64_t batch_words = 0;
  };

  /// `job` outlives it.
  explicit LocalClustering(FrontierJob& job, const Pieces& pieces);
  explicit LocalClustering(FrontierJob& job) : LocalClustering(job, Pieces{}) {}

  /// Collective; throws Error. Memory: that of OrientedRows, HubBits and BoundaryRows, 8 bytes for each known
  /// vertex, and 4 for each worker and known vertex.
  std::vector<Superstep> run();
  /// [local number]: how many edges lead from a neighbour to a neighbour, in relation to how many could.
  /// After run(), as the next one.
  std::vector<double> coefficients() const;
  /// Of the whole graph without its directions.
  std::uint64_t triangles() const noexcept { return triangles_; }
  /// The pairs of neighbours that the owned vertices have, d (d - 1) / 2 each: each could be a triangle.
  double pairs_of_neighbours() const;

 private:
  struct alignas(128) Worker {
    /// [number]: for the neighbours of the vertex in work flags, and what is credited to them. Made when
    /// needed.
    std::vector<std::uint32_t> cells;
    /// [place in the row of the vertex in work]: what is credited to the neighbour there.
    std::vector<std::uint32_t> earned;
    std::uint64_t vertices = 0, edges = 0, triangles = 0;
  };

  /// The rows that are looked at: of vertices with numbers [first, last); of boundary vertices alone, or of
  /// owned ones, too.
  struct Others {
    std::uint32_t first, last;
    bool owned;
  };
  /// The same in a row: the places [first, last).
  struct Places {
    std::size_t first, last;
    bool owned;
  };

  void for_each(std::uint64_t count, const std::function<void(int worker, std::uint64_t index)>& work);
  void orient();
  void intersect();
  void intersect_with(const Others& others, std::uint64_t entries, std::uint64_t pass, std::uint64_t passes);
  Places places_of(std::uint32_t number, const Others& others) const noexcept;
  void fetch_ahead(std::uint32_t number, const Others& others) const;
  void intersect_symmetric(Worker& worker, std::uint32_t number, Places places);
  void mark(Worker& worker, std::span<const std::uint32_t> row) const;
  static std::uint32_t look_up(Worker& worker, std::span<const std::uint32_t> other);
  void intersect_directed(Worker& worker, std::uint32_t number, Places places);
  void take_cells(Worker& worker, std::span<const std::uint32_t> row);
  void give(std::uint32_t number, std::uint64_t credit);
  void send_credits();
  void send_pieces(int lane, unsigned shift);

  FrontierJob& job_;
  Pieces pieces_;
  OrientedRows::ForEach all_workers_ = [this](std::uint64_t count, const auto& work) {
    for_each(count, work);
  };
  std::optional<OrientedRows> rows_;
  std::optional<HubBits> hubs_;  ///< in symmetric graphs, of the rows that are looked at
  /// [number]: edges between neighbours that were found here; in symmetric graphs pairs of edges.
  std::unique_ptr<std::atomic<std::uint64_t>[]> credits_;
  std::vector<Worker> workers_;
  SuperstepLog log_;
  std::uint64_t triangles_ = 0;
};

}  // namespace edgewire::frontier
