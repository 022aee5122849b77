// Weakly connected components: a union-find forest in each process (Sutton, Ben-Nun, Barak: "Optimizing
// parallel graph connectivity computation via subgraph sampling", 2018), over the vertices that it knows.
//
// Each tree hangs on its smallest vertex. Two edges of every vertex are linked first, which joins most of a
// graph. Then, in symmetric graphs, the rows of the largest component are skipped: an edge that leaves it is
// also in the row at its other end. Rows on disks are read once instead, all of them.
//
// Several processes then join the components that each of them has found: see ComponentsApart.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "frontier/components_apart.h"
#include "frontier/forest.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"

namespace edgewire::frontier {

class Components {
 public:
  static constexpr std::size_t kSampledEdges = 2;  ///< of each vertex, in kSample
  /// Superstep::kind, those of ComponentsApart besides. Its `frontier` has vertices whose edges were linked.
  static constexpr std::uint64_t kSample = 0, kRest = 1, kAll = 2;

  /// Memory: 4 bytes for each vertex that the process knows; ComponentsApart. `job` outlives it.
  /// `room`: see ComponentsApart.
  explicit Components(FrontierJob& job, ComponentsApart::Room room = {});

  /// Collective; throws Error.
  std::vector<Superstep> run();
  /// [local number]: the smallest vertex of the component. After run().
  std::vector<PlainId> labels() const;

 private:
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0;
  };

  void step(std::uint64_t kind, const std::function<void()>& work) { log_.step(kind, workers_, work); }
  void link_sample();
  template <class Skips>
  void link_rest(const Skips& skips);
  void link_all();
  VertexId hub() const noexcept;
  std::uint32_t largest() const;
  void compress();
  void for_each_number(const std::function<void(std::uint32_t first, std::uint32_t last)>& work);

  FrontierJob& job_;
  bool several_;
  Forest forest_;                           ///< over known numbers; in one process these are the vertices
  std::unique_ptr<ComponentsApart> apart_;  ///< where there are several processes
  std::vector<Worker> workers_;
  SuperstepLog log_;
};

}  // namespace edgewire::frontier
