// Weakly connected components: a union-find forest in each process, over the vertices that it knows. This is
// Afforest (Sutton, Ben-Nun, Barak: "Optimizing parallel graph connectivity computation via subgraph
// sampling", 2018):
//
// 1. A sample of the edges, two of each vertex, is linked, which joins most of a graph.
// 2. The giant component is the one that most vertices are in.
// 3. The rest of the edges is linked. In symmetric graphs the rows of the giant component are skipped: an
//    edge that leaves it is also in the row at its other end.
// 4. The components of several processes are joined, see WccMerge.
//
// Rows on disks are read once instead, and all of them are linked.
#pragma once

#include <cstdint>
#include <vector>

#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/wcc/forest.h"
#include "kernels/wcc/merge.h"

namespace edgewire::kernels {

class Wcc {
 public:
  static constexpr std::size_t kSampledEdges = 2;  ///< number of edges of each vertex in kSample
  /// The values of Superstep::kind, with those of WccMerge besides. Its `frontier` has vertices whose
  /// edges were linked.
  static constexpr std::uint64_t kSample = 0, kRest = 1, kAll = 2;

  /// Makes the kernel. Memory: 4 bytes for each vertex that the process knows; WccMerge. `job` outlives it.
  /// `room`: as for WccMerge.
  explicit Wcc(frontier::Job& job, WccMerge::Room room = {});

  /// Runs the kernel. Collective; throws Error.
  std::vector<frontier::Superstep> run();
  /// Returns, by local number, the smallest vertex of the component. It is called after run().
  std::vector<PlainId> labels() const;

 private:
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0;
  };

  void make_sets();
  void link_sample();
  void link_rest();
  void link_all();
  void compress();
  std::uint32_t hub() const noexcept;
  bool is_with_hub(LocalNumber local) const noexcept;

  frontier::Job& job_;
  Forest forest_;  ///< forest over known numbers
  WccMerge merge_;
  /// Vertex with the most edges, where all rows are on disks of this process.
  std::uint32_t hub_ = Forest::kNone;
  std::vector<Worker> workers_;
  frontier::SuperstepLog log_;
};

}  // namespace edgewire::kernels
