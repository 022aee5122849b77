// How several processes make one of the components that each of them has found among the vertices that it
// knows. A process's components are the vertices of a smaller graph, and a component is named by its smallest
// owned vertex. An edge of that graph is a boundary vertex: what it belongs to here and what it belongs to at
// its owner is one component.
//
// A large component in each process comes first. A process says with a bit a vertex what it has of its own
// vertices, and which processes have a part of the same one is known then. Only for the other boundary
// vertices one of the two processes sends the name of the component, 4 bytes, without an id, since both know
// the order. Where every edge is stored both ways, the boundary vertices of one of the two are enough.
//
// Where process 0 has room for what all have to say of these, it gets numbers instead of names, links them,
// and answers with labels: see GatheredComponents. Otherwise whoever hears names links them, and tells the
// owner of each component that hangs below another one; the owner links both, which may hang another one. A
// component that hangs takes no part any more, so what is left is halved in two such supersteps at most,
// until few are left, which process 0 links. Then owners are asked for roots: each answer leads at least
// twice as far. For these supersteps components are in an order that is a hash of their names, since in that
// of the names a path could hang as one long chain; the smallest names follow at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/mixing.h"
#include "frontier/forest.h"
#include "frontier/frontier_job.h"
#include "frontier/gathered_components.h"
#include "frontier/superstep.h"

namespace edgewire::frontier {

/// What supersteps of Components do, by kind.
inline constexpr std::array kComponentPhases{"link two edges of each vertex",
                                             "link the rest",
                                             "link all edges",
                                             "find the largest component",
                                             "name components of boundary vertices",
                                             "tell owners where components hang",
                                             "link components in one process",
                                             "ask owners for roots",
                                             "send labels"};

/// The component that is the most frequent one among some of the owned vertices, about so many.
inline constexpr std::uint32_t kSampledVertices = 1024;
struct MostFrequent {
  std::uint32_t root = Forest::kNone;
  std::uint32_t count = 0, of = 0;  ///< vertices that were looked at, and all of them
};
MostFrequent most_frequent(const Forest& forest, std::uint32_t owned);

/// The calling thread sends and links; it is worker 0.
class ComponentsApart {
 public:
  /// Superstep::kind. Its `frontier` has names, bits or records that were sent.
  static constexpr std::uint64_t kLargest = 3, kName = 4, kTell = 5, kGather = 6, kAsk = 7, kLabel = 8;
  /// What process 0 may get.
  struct Room {
    GatheredRoom all{};
    std::uint64_t left = 1 << 13;  ///< components that hang, once owners were told of others
  };

  /// `forest`: over the numbers of the job's boundary. Memory: 2 bits for each vertex that the process knows;
  /// 8 bytes for each boundary vertex of this process or of others whose component is told; in process 0 what
  /// `room` says; where it has no room, at most 32 bytes for each component of another process that this one
  /// hears of. `job` and `forest` outlive this. `room`: the same in all processes.
  ComponentsApart(FrontierJob& job, Forest& forest, Room room);

  /// Says which owned vertices are in a component that is large in this process, and links boundary vertices
  /// that are in the same one. False when no process has one; it may be called again then. Collective; throws
  /// Error, as all that follow.
  bool share_largest(SuperstepLog& log);
  /// Whether all processes know that the vertex is in that component. Edges of its row need not be linked
  /// where the graph is symmetric. Before share_largest() none is.
  bool in_largest(LocalNumber local) const noexcept { return largest_.test(local); }
  /// After all edges were linked.
  void join(SuperstepLog& log);
  /// The smallest vertex of the component. After join().
  PlainId label(LocalNumber local) const noexcept { return id(root(local)); }

 private:
  static constexpr std::uint32_t kNone = Forest::kNone;
  struct Question {
    std::uint32_t peer;
    PlainId vertex, least;
  };
  struct Slot {
    PlainId vertex;
    std::uint32_t number = kNone;  ///< kNone: free
  };
  class Pairs;

  // Components have numbers in the forest: those of this process are owned vertices. Those of others follow
  // behind the boundary vertices, as they become known.
  std::uint32_t above(std::uint32_t n) const noexcept {
    return n < known_ ? forest_.above(n) : far_above_[n - known_];
  }
  /// Whether nothing is known of a boundary vertex but others of them that are in the same component.
  bool stands_alone(std::uint32_t n) const noexcept {
    const std::uint32_t top = root(n);
    return top >= owned_ && top < known_;
  }
  void hang(std::uint32_t n, std::uint32_t below) noexcept;
  std::uint32_t root(std::uint32_t n) const noexcept;
  std::uint32_t root_by_halves(std::uint32_t n) noexcept;
  PlainId id(std::uint32_t n) const noexcept;
  /// What is higher hangs below what is lower. The same in all processes, and never the same for two names.
  std::uint64_t order(std::uint32_t n) const noexcept { return mix64(id(n)); }
  partition::Place place_of(PlainId vertex) const;
  void fetch(PlainId vertex) const;
  std::uint32_t number_of(PlainId vertex);
  Slot& slot_of(PlainId vertex) noexcept;
  void grow_table();
  void link(std::uint32_t n, std::uint32_t m);
  std::uint32_t owner_of(std::uint32_t n) const noexcept;

  void say_bits(const std::vector<std::uint64_t>& counts);
  bool meets(std::uint32_t peer, std::uint32_t root) const noexcept;
  void link_largest(PlainId vertex, bool joined, std::uint32_t root);
  bool receives(std::uint32_t peer) const noexcept { return ((rank_ + peer) % 2 == 1) == (rank_ < peer); }
  std::pair<bool, bool> sides(std::uint32_t peer) const noexcept;
  std::uint64_t names_for(std::uint32_t peer) const noexcept;
  template <class Work>
  void for_each_open(std::uint32_t peer, bool sender, const Work& work) const;
  std::vector<std::uint64_t> counts_of_names() const;
  std::vector<std::uint32_t> find_roots(const std::vector<std::uint64_t>& counts, Bits& named) const;
  std::unique_ptr<GatheredComponents> gather(Superstep& done, Bits& named);
  void take_labels(const Bits& named, const GatheredComponents::Answer& answer);
  std::uint32_t add_far(PlainId vertex);
  void send_names(Superstep& done);
  void link_names(std::uint32_t peer, const std::vector<PlainId>& names);
  void link_pending(SuperstepLog& log);
  void tell(Superstep& done, bool to_one);
  void ask_for_roots(SuperstepLog& log);
  void ask(Superstep& done);
  void send_labels(Superstep& done);
  void note(std::uint32_t root, PlainId vertex);

  FrontierJob& job_;
  Forest& forest_;
  const Boundary& boundary_;
  std::uint32_t rank_, processes_, owned_, known_;
  Room room_;

  Bits largest_;                                   ///< [local number]
  std::vector<std::vector<std::uint64_t>> heard_;  ///< [peer]: a bit for each of its boundary vertices here
  std::vector<std::uint64_t> open_here_,
      open_there_;  ///< [peer]: boundary vertices here, there without a bit
  /// A number in the component that is large in all processes, and a name of it.
  std::pair<std::uint32_t, PlainId> shared_{kNone, kNoVertex};

  std::vector<std::uint32_t> far_above_;  ///< [number - known_]
  std::vector<PlainId> far_ids_;          ///< likewise
  std::vector<Slot> table_;               ///< numbers by a hash of their ids
  std::vector<std::uint32_t> pending_;    ///< hung, and not told

  std::vector<std::uint32_t> hung_;  ///< all of this process that were hung
  std::vector<PlainId> least_;       ///< [root]: the smallest vertex that is known to be in its component
  std::vector<std::uint32_t> noted_, to_ask_;  ///< roots of this process and of others that have a least_
  std::vector<std::vector<std::uint32_t>> waiting_,
      awaited_;  ///< [peer]: roots that get, that wait for a label
};

}  // namespace edgewire::frontier
