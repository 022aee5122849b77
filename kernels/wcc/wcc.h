// Weakly connected components: a union-find forest in each process, over the vertices that it knows. This is
// Afforest (Sutton, Ben-Nun, Barak: "Optimizing parallel graph connectivity computation via subgraph
// sampling", 2018):
//
// 1. A sample of the edges, two of each vertex, is linked, which joins most of a graph.
// 2. The giant component is the one that most vertices are in.
// 3. The rest of the edges is linked. In symmetric graphs the rows of the giant component are skipped: an
//    edge that leaves it is also in the row at its other end.
// 4. The components of several processes are joined.
//
// Rows on disks are read once instead, and all of them are linked.
//
// A component of a process is named by its smallest owned vertex. A boundary vertex links two components: the
// one that it belongs to here and the one that it belongs to at its owner. A giant component comes first. A
// process says with a bit for each of its vertices whether it is in it, and the processes with a part of the
// same one are known then. Only for the other boundary vertices the two processes name their components, in
// an order that both know, without ids. Where every edge is stored both ways, the boundary vertices of one of
// the two are enough. Where process 0 has room for the lists of all, it links them, and answers with labels:
// see GatheredComponents. Otherwise all processes link them: see WccJoin.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bits.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/wcc/forest.h"
#include "kernels/wcc/gathered.h"

namespace edgewire::kernels {

/// The names of the supersteps of Wcc, by kind.
inline constexpr std::array kWccPhases{"link two edges of each vertex",
                                       "link the rest",
                                       "link all edges",
                                       "find the largest component",
                                       "name components of boundary vertices",
                                       "tell owners the parents of components",
                                       "link components in one process",
                                       "ask owners for roots",
                                       "send labels"};

/// The approximate number of owned vertices that are sampled for the most frequent component.
inline constexpr std::uint32_t kSampledVertices = 1024;
struct MostFrequent {
  std::uint32_t root = Forest::kNone;
  std::uint32_t count = 0, of = 0;  ///< number of sampled vertices in it, and of all of them
};
MostFrequent most_frequent(const Forest& forest, std::uint32_t owned);

/// The join of all components. Functions are collective, while workers rest; they throw Error.
class WccMerge {
 public:
  /// The values of Superstep::kind. Its `frontier` has names, bits or records that were sent.
  static constexpr std::uint64_t kGiant = 3, kName = 4, kTell = 5, kGather = 6, kAsk = 7, kLabel = 8;
  /// The most that process 0 gets.
  struct Room {
    GatheredRoom all{};
    std::uint64_t left = 1 << 13;  ///< number of components with a parent, once owners were told of others
  };

  /// Makes the join. `forest`: over the numbers of the job's boundary. Memory: a bit for each vertex that the
  /// process knows and for each that it owns; 8 bytes for each boundary vertex of this process or of others
  /// whose component is named; in process 0 that of `room`, or where it has no room that of WccJoin in each
  /// process. `job` and `forest` outlive this. `room`: the same in all processes.
  WccMerge(frontier::Job& job, Forest& forest, Room room);

  /// Tells which owned vertices are in a component that is large in this process, and links boundary vertices
  /// that are in the same one. Returns false when no process has one; it may be called again then.
  bool share_giant(frontier::SuperstepLog& log);
  /// Returns whether all processes know that the vertex, which is known here, is in that component. Edges of
  /// its row need not be linked where the graph is symmetric. Before share_giant() none is.
  bool in_giant(std::uint32_t owner, std::uint32_t number) const noexcept {
    return has_giant_[owner] != 0 && giant_.test(number);
  }
  /// Links the components of all processes, after all edges were linked. `giant_shared`: see share_giant().
  void join(frontier::SuperstepLog& log, bool giant_shared);
  /// Returns the smallest vertex of the component. It is called after join(), and needs no other process.
  PlainId label(LocalNumber local) const noexcept {
    const std::uint32_t root = forest_.root(local);
    return open_.has(root) ? labels_[open_.number(root)] : name(root);
  }

 private:
  static constexpr std::uint32_t kNone = Forest::kNone;

  PlainId name(std::uint32_t root) const noexcept {
    return job_.ownership().vertex(rank_, LocalNumber(root));
  }
  void mark_giants(const std::vector<std::uint64_t>& largest, std::uint32_t root);
  bool meets(std::uint32_t peer, std::uint32_t root) const noexcept;
  void link_giant(std::uint32_t root);
  std::vector<std::uint32_t> open_between(std::uint32_t peer) const;
  void find_open();

  frontier::Job& job_;
  Forest& forest_;
  const frontier::Boundary& boundary_;
  std::uint32_t rank_, processes_, owned_;
  Room room_;
  Bits giant_;  ///< vertices in the largest component of their owner, by known number
  std::vector<std::uint64_t> has_giant_;  ///< whether (1) that is a part of the giant component, [process]
  std::uint32_t giant_member_ = kNone;    ///< number of a vertex in the giant component
  OpenComponents open_;
  std::vector<PlainId> labels_;  ///< labels of open_, by number
};

class Wcc {
 public:
  static constexpr std::size_t kSampledEdges = 2;  ///< number of edges of each vertex in kSample
  /// The values of Superstep::kind, beside WccMerge's. `frontier` has vertices whose edges were linked.
  static constexpr std::uint64_t kSample = 0, kRest = 1, kAll = 2;

  /// Makes the kernel. Memory: 4 bytes for each vertex that the process knows; WccMerge. `job` outlives it.
  explicit Wcc(frontier::Job& job, WccMerge::Room room = {});

  /// Runs the kernel. Collective; throws Error.
  std::vector<frontier::Superstep> run();
  /// Returns, by local number, the smallest vertex of the component. It is called after run().
  std::vector<PlainId> labels() const;

 private:
  struct alignas(128) Worker {
    std::uint64_t vertices = 0, edges = 0;
  };

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
