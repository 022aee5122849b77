// Single-source shortest paths by delta stepping (Meyer, Sanders: "Delta-stepping: a parallelizable shortest
// path algorithm", 2003), over all processes and workers. A vertex has a tentative distance, and waits in the
// bucket [i * delta, (i + 1) * delta) of this distance. A superstep takes all vertices of the lowest bucket
// that any process has, and relaxes their edges: the distance of a target falls where the way along the edge
// is less, and the target goes to the bucket of its new distance, which may be the same one again. Edges are
// not told apart as light or heavy ones: a vertex that falls back into the bucket has all its edges relaxed
// once more. FrontierJob::settle_in_order() has the buckets, and tells owners.
//
// Weights are added along a path in its order, so distances are the same in every run. What rounding does to
// them: docs/sssp.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/frontier.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"

namespace edgewire::kernels {

/// The program of shortest paths. `Distance`: float, double, or std::uint64_t for whole weights.
template <class Distance = double>
struct Sssp {
  static constexpr bool kWhole = std::is_integral_v<Distance>;
  using Limits = std::numeric_limits<Distance>;

  /// Makes the program. `delta`: where it is 0, a quarter of average weight / average degree is chosen, or 1
  /// where that is no positive number. Meyer and Sanders show that with delta in proportion to this quotient
  /// vertices are followed few times and buckets are few, too. On Kronecker graphs a quarter of it follows
  /// half as many edges as all of it. `unit_weights`: whether each edge has weight 1. Collective. Throws
  /// UsageError when an option makes no sense, and Error when the job's edges have no weights, a negative
  /// one, or weights that are not whole where distances are.
  explicit Sssp(frontier::Job& job, double delta = 0, bool unit_weights = false);

  static constexpr Distance unreached() { return kWhole ? Limits::max() : Limits::infinity(); }
  /// Returns the value of sums that are greater than a distance can be. Any addition leaves it.
  static constexpr Distance too_long() { return kWhole ? Limits::max() - 1 : Limits::max(); }
  bool weighted() const { return !unit_weights; }
  template <class Weight>
  static Distance along(Distance distance, Weight weight) {
    if constexpr (!kWhole) {
      return std::min(distance + static_cast<Distance>(weight), too_long());
    } else if constexpr (std::is_integral_v<Weight>) {
      const Distance sum = distance + weight;
      return sum < distance ? too_long() : std::min(sum, too_long());
    } else {
      return too_long();  // not called: the constructor has refused such weights
    }
  }
  /// Returns the bucket, clamped where distances are so many times delta that only their order counts.
  std::uint64_t bucket(Distance distance) const {
    return static_cast<std::uint64_t>(std::min(static_cast<double>(distance) * buckets_a_unit, 0x1p62));
  }
  /// Throws Error that says that a shortest path to this vertex is too long for the type.
  [[noreturn]] void refuse(const Graph& graph, VertexId vertex) const;

  double delta;
  bool unit_weights;
  double buckets_a_unit;  ///< number of buckets in a unit: 1 / delta
};

/// The kernel of distances from a source, as Sssp defines them: `Distance` is float, double or std::uint64_t.
template <class Distance>
class DeltaStepping {
 public:
  /// The size of a record for Options::record_bytes.
  static constexpr std::size_t kRecordBytes = FrontierJob<Distance>::kRecordBytes;

  /// Makes the kernel. Memory: a distance for each vertex that the process knows, and one more for each
  /// boundary vertex. Throws UsageError when the job has smaller records, or weights and the program none.
  DeltaStepping(frontier::Job& job, const Sssp<Distance>& program)
      : job_(job),
        program_(program),
        log_(job),
        search_(job, &log_),
        memory_(job.known() * sizeof(Distance), -1, "distances", topology::Begin::staggered),
        distances_(memory_.as<Distance>()),
        told_(job.known() - job.owned(), program.unreached()) {
    job.make_rows();
    search_.will_read(distances_);
    job.expect_weights(program.weighted());
    constexpr std::uint64_t kPiece = 1 << 16;
    job_.pool().for_each((distances_.size() + kPiece - 1) / kPiece, [&](int, std::uint64_t piece) {
      const std::size_t first = piece * kPiece;
      std::ranges::fill(distances_.subspan(first, std::min<std::size_t>(kPiece, distances_.size() - first)),
                        program_.unreached());
    });
  }

  /// Runs the kernel and returns the supersteps; distances() has the result. Collective. Throws Error, also
  /// when the best distance of a vertex that a path reaches is too_long().
  std::vector<frontier::Superstep> run(VertexId source, Distance start) {
    job_.expect_vertex(source);
    std::vector<LocalNumber> frontier;
    if (const Home home = job_.ownership().home(source); home.owner == job_.rank()) {
      distances_[home.local] = start;
      frontier = {home.local};
    }
    const auto relax = [this](const FrontierRow& row, const auto& tell) {
      const Distance way = distance(row.vertex);
      // The distance has fallen, and was relaxed there.
      if (program_.bucket(way) < search_.step()) return false;
      relax_row(row, way, tell);
      return true;
    };
    const auto say = [this](KnownNumber v) -> std::optional<Distance> {
      if (lower(told_[v - job_.owned()], distance(v))) return distance(v);
      return {};
    };
    search_.settle_in_order(frontier, relax, Fall{*this}, InBucket{*this}, say);
    refuse_too_long();
    job_.wait_for_all();
    return log_.take();
  }
  /// Returns the distances of the owned vertices, by local number.
  std::vector<Distance> distances() const {
    const auto owned = distances_.first(job_.owned());
    return {owned.begin(), owned.end()};
  }

 private:
  /// A worker's reaction to a way to a vertex.
  struct Fall {
    DeltaStepping& all;
    /// Lowers the distance. It took 1.5 times as long where the compiler chose not to inline it.
    [[gnu::always_inline]] bool operator()(KnownNumber v, Distance offered) const {
      return lower(all.distances_[v], offered, all.search_.is_shared());
    }
  };
  static constexpr std::size_t kAhead = 16;  ///< number of distances that are fetched before they are read

  struct InBucket {
    const DeltaStepping& all;
    std::uint64_t operator()(KnownNumber, Distance distance) const { return all.program_.bucket(distance); }
    std::uint64_t operator()(KnownNumber v) const { return all.program_.bucket(all.distance(v)); }
  };
  /// Distances order nothing else, so all accesses are relaxed; the end of a superstep orders them.
  Distance distance(std::uint32_t number) const noexcept {
    return std::atomic_ref(distances_[number]).load(std::memory_order_relaxed);
  }
  template <class Tell>
  void relax_row(const FrontierRow& row, Distance way, const Tell& tell) const {
    if (row.weights.empty())
      return relax_edges(row.targets, tell, [=](std::size_t) { return Sssp<Distance>::along(way, 1U); });
    row.weights.visit([&](const auto weights) {
      relax_edges(row.targets, tell, [=](std::size_t e) { return Sssp<Distance>::along(way, weights[e]); });
    });
  }
  template <class Tell, class Along>
  void relax_edges(std::span<const KnownNumber> targets, const Tell& tell, const Along along) const {
    Distance* const distances = distances_.data();
    for (std::size_t e = 0; e < targets.size(); ++e) {
      if (targets.size() - e > kAhead) __builtin_prefetch(distances + targets[e + kAhead]);
      const Distance offered = along(e);
      if (offered < std::atomic_ref(distances[targets[e]]).load(std::memory_order_relaxed))
        tell(targets[e], offered);
    }
  }
  /// Throws Error where a distance is too long, the same one in all processes.
  void refuse_too_long() {
    constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t vertex = kNone;
    job_.for_each_range([&](int, LocalNumber first, LocalNumber last) {
      for (LocalNumber local = first; local < last; ++local)
        if (distances_[local] == program_.too_long()) lower(vertex, std::uint64_t{search_.vertex(local)});
    });
    vertex = job_.min_of_all(vertex);
    if (vertex != kNone) program_.refuse(job_.graph(), VertexId(static_cast<PlainId>(vertex)));
  }

  frontier::Job& job_;
  const Sssp<Distance>& program_;
  frontier::SuperstepLog log_;
  FrontierJob<Distance> search_;
  topology::NodeMemory memory_;
  std::span<Distance> distances_;  ///< tentative distances, the lowest that are known here, [KnownNumber]
  /// Distances that owners were told of, [KnownNumber of a boundary vertex, from 0].
  std::vector<Distance> told_;
};

/// Returns, by vertex, the vertex before it on a shortest path from `source`, kNoVertex where none leads; the
/// source is its own. Of several it is the smallest one on a path of the fewest edges. `distances`:
/// those of all vertices, as DeltaStepping finds them. Takes one thread, and 8 bytes for each vertex.
/// Throws Error when the graph file is damaged.
template <class Distance>
std::vector<PlainId> find_parents(const Graph& graph, VertexId source, std::span<const Distance> distances,
                                  bool unit_weights);

extern template class DeltaStepping<float>;
extern template class DeltaStepping<double>;
extern template class DeltaStepping<std::uint64_t>;

}  // namespace edgewire::kernels
