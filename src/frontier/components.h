// Weakly connected components: a union-find forest in each process, over all vertices of the graph (Sutton,
// Ben-Nun, Barak: "Optimizing parallel graph connectivity computation via subgraph sampling", 2018), and
// messages that make one forest of them.
//
// Each tree hangs on its smallest vertex. Two edges of every vertex are linked first, which joins most of a
// graph. Then, in symmetric graphs, the rows of the largest component are skipped: an edge that leaves it is
// also in the row at its other end. Rows on disks are read once instead, all of them.
//
// Between processes, when edges were linked: a process tells the owner of each vertex that it has hung below
// a smaller one, once. The owner links the two, which may hang another root, and so on. When nobody has
// anything to tell, the roots that the owners know for their vertices lead to the smallest vertex of the
// component: where z hangs below r in a process, the owner of z knows that both belong together, and r < z.
// Processes then ask the owners of their roots, and the owners of what they hear, until all have reached it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "topology/memory.h"

namespace edgewire::frontier {

/// What supersteps of Components do, by kind.
inline constexpr std::array kComponentPhases{"link two edges of each vertex", "link the rest",
                                             "tell owners where their vertices hang", "ask owners for roots",
                                             "link all edges"};

class Components {
 public:
  static constexpr std::size_t kSampledEdges = 2;  ///< of each vertex, in kSample
  /// Superstep::kind. Its `frontier` has vertices whose edges were linked, or records that were sent.
  static constexpr std::uint64_t kSample = 0, kRest = 1, kTell = 2, kAsk = 3, kAll = 4;

  /// Memory: 4 bytes for each vertex of the graph; where there are several processes 1 more, and 4 for each
  /// vertex that hangs below another one. `job` outlives it.
  explicit Components(FrontierJob& job);

  /// Collective; throws Error.
  std::vector<Superstep> run();
  /// [local number]: the smallest vertex of the component. After run().
  std::vector<std::uint32_t> labels() const;

 private:
  static constexpr VertexId kNone{0xffffffff};
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0;
    std::vector<VertexId> hung;    ///< roots that were hung below others, and whose owners must be told
    std::vector<VertexId> to_ask;  ///< roots of owned vertices, of other processes
    std::vector<VertexId> marked;  ///< in asked_
  };
  /// Somebody asks below which vertex `vertex` hangs.
  struct Question {
    int peer;
    VertexId vertex;
  };

  void step(std::uint64_t kind, const std::function<void()>& work);
  void link_sample();
  void link_rest(VertexId largest);
  void link_all();
  VertexId hub() const noexcept;
  void merge();
  void tell(int lane);
  void find_roots();
  void ask(int lane);
  void mark(Worker& worker, VertexId root);
  std::uint64_t work_of_all();
  VertexId largest() const;
  std::span<const VertexId> sample_of(VertexId v) const noexcept;
  void fetch(VertexId far, VertexId near) const noexcept;
  VertexId above(VertexId v) const noexcept { return above_[v].load(std::memory_order_relaxed); }
  VertexId hang(VertexId u, VertexId v) noexcept;
  void link(Worker& worker, VertexId u, VertexId v);
  VertexId root(VertexId v) const noexcept;
  VertexId root_by_halves(VertexId v) noexcept;
  void compress();
  VertexId checked(std::uint32_t vertex) const;
  void for_each_vertex(const std::function<void(VertexId first, VertexId last)>& work);

  FrontierJob& job_;
  bool several_;
  std::uint32_t rank_;
  std::uint32_t vertices_;
  topology::NodeMemory above_memory_;
  std::span<std::atomic<VertexId>> above_;  ///< [vertex]: a smaller vertex, or itself
  std::vector<std::atomic<bool>> asked_;    ///< [vertex]: it is, or was, the root of an owned vertex
  std::vector<Worker> workers_;
  SuperstepLog log_;
};

}  // namespace edgewire::frontier
