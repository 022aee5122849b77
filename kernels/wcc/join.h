// The way processes link the components that each of them has found, where none has room for all.
//
// Of each two processes one receives the names that the other one has for the vertices that both know, and
// links them with its own. Names are linked in a union-find forest of their own, since those of other
// processes are among them. A process that gives a component a parent tells its owner; the owner links both,
// which may give another component a parent. A component with a parent takes no part any more, so the rest is
// halved in at most two such supersteps, until few are left, which process 0 links. Then owners are asked for
// roots: each answer leads at least twice as far. Parents are in an order that is a hash of their names,
// since in the order of the names a path could become one long chain; the smallest names follow at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/mixing.h"
#include "frontier/frontier_job.h"
#include "frontier/superstep.h"
#include "kernels/wcc/forest.h"

namespace edgewire::kernels {

/// The links among all processes, by the calling thread. Functions are collective; they throw Error.
class WccJoin {
 public:
  /// Makes the links. `job` and `open` outlive this. Memory: at most 40 bytes for each component of this
  /// process or of others that it receives, and 4 bytes for each root in OpenComponents::named.
  WccJoin(frontier::Job& job, const OpenComponents& open);

  /// Links the components that two processes have named for a vertex. Returns how many it has sent.
  std::uint64_t exchange_names();
  /// Links all components. Process 0 links them where it gets no more than `room`.
  void link_all(frontier::SuperstepLog& log, std::uint64_t room);
  /// Returns, after link_all(), the smallest vertices of the components of this process, by number.
  std::vector<PlainId> labels(frontier::SuperstepLog& log);

 private:
  static constexpr std::uint32_t kNone = OpenComponents::kNone;
  static constexpr std::size_t kNamesAhead = 16;    // number of names that are fetched before they are linked
  using Lists = std::vector<std::vector<PlainId>>;  // lists by peer
  struct Slot {
    PlainId name;
    std::uint32_t number = kNone;  ///< number; kNone: free
  };
  struct Question {
    std::uint32_t peer, number;
    PlainId least;
  };

  std::uint32_t add(PlainId name);
  std::uint32_t number_of(PlainId name);
  std::size_t slot_of(PlainId name) const noexcept;
  void fetch(PlainId name) const noexcept;
  std::uint32_t owner_of(std::uint32_t n) const noexcept {
    return job_.ownership().home(VertexId(names_[n])).owner;
  }
  /// Returns the order by which a root is lower than all others of its tree, in all processes the same.
  std::uint64_t order(std::uint32_t n) const noexcept { return mix64(names_[n]); }
  std::uint32_t root(std::uint32_t n) noexcept;
  void link(std::uint32_t n, std::uint32_t m);
  void send_parents(frontier::Superstep& done, bool to_one);
  void note(std::uint32_t root, PlainId vertex);
  void ask_for_roots(frontier::Superstep& done);
  void exchange(const Lists& sent, Lists& taken);

  frontier::Job& job_;
  const OpenComponents& open_;
  std::uint32_t rank_, processes_;
  // Components of this process have the numbers of `open_`; those of others follow as they become known.
  std::vector<std::uint32_t> parents_;
  std::vector<PlainId> names_;
  std::vector<PlainId> least_;          ///< smallest vertex that is known to be in the component of a root
  std::vector<Slot> table_;             ///< numbers by a hash of their names
  std::vector<std::uint32_t> pending_;  ///< components whose owners do not know their parent
  std::vector<std::uint32_t> to_ask_;   ///< roots of other processes
  /// Roots here whose labels a peer has asked for, and the peer's roots that are asked for, [peer].
  std::vector<std::vector<std::uint32_t>> requested_, awaited_;
};

}  // namespace edgewire::kernels
