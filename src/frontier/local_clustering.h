// Local clustering coefficients, and with them the number of triangles: the rows of neighbours with smaller
// numbers are intersected (Schank, Wagner: "Finding, counting and listing all triangles in large graphs",
// 2005; Latapy: "Main-memory triangle computations for very large (sparse (power-law)) graphs", 2008). Each
// triangle is found once, at its corner with the largest number, and credited to all three.
//
// Every process has the file mapped and builds the rows of the whole graph. It looks for the triangles whose
// corner with the largest number it owns. Only credits travel: each process adds up its own first, and sends
// at most one record for each vertex of another process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "frontier/frontier_job.h"
#include "frontier/hub_bits.h"
#include "frontier/oriented_rows.h"
#include "frontier/superstep.h"

namespace edgewire::frontier {

class LocalClustering {
 public:
  /// Superstep::kind. In kOrient `edges` has the edges of the file, in kIntersect those entries of rows that
  /// were looked up.
  static constexpr std::uint64_t kOrient = 0, kIntersect = 1, kCredit = 2;

  /// `job` outlives it. `record_bits`: a credit travels in pieces of so many bits, 1 to 32; fewer than 32 are
  /// for tests.
  explicit LocalClustering(FrontierJob& job, unsigned record_bits = 32);

  /// Collective; throws Error. Memory: that of OrientedRows and HubBits, 8 bytes for each vertex of the
  /// graph, and 4 for each worker and vertex.
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

  void for_each(std::uint64_t count, const std::function<void(int worker, std::uint64_t index)>& work);
  void orient();
  void intersect();
  void fetch_ahead(std::uint32_t number) const;
  void intersect_symmetric(Worker& worker, std::uint32_t number);
  void mark(Worker& worker, std::span<const std::uint32_t> row) const;
  static std::uint32_t look_up(Worker& worker, std::span<const std::uint32_t> other);
  void intersect_directed(Worker& worker, std::uint32_t number);
  void take_cells(Worker& worker, std::span<const std::uint32_t> row);
  void give(std::uint32_t number, std::uint64_t credit);
  void send_credits();
  void send_pieces(int lane, unsigned shift);

  FrontierJob& job_;
  unsigned record_bits_;
  std::uint32_t vertices_;
  std::optional<OrientedRows> rows_;
  std::optional<HubBits> hubs_;  ///< in symmetric graphs
  /// [number]: edges between neighbours that were found here; in symmetric graphs pairs of edges.
  std::unique_ptr<std::atomic<std::uint64_t>[]> credits_;
  std::vector<Worker> workers_;
  SuperstepLog log_;
  std::uint64_t triangles_ = 0;
};

}  // namespace edgewire::frontier
