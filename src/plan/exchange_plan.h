// What one process sends: for each peer the destinations that its edges reach there, in which slots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph_file.h"
#include "plan/bits.h"
#include "plan/owned_vertices.h"
#include "plan/owner_filter.h"
#include "plan/ownership.h"
#include "plan/pair_covers.h"
#include "plan/volume.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

/// Values of one kind that go to one peer in every iteration, each into its slot. Every peer has `lists`
/// streams: for strategy `worker` one for each worker, for `cover` its sums and its mirrors, else one.
struct Stream {
  int peer = 0;
  int list = 0;
  bool mirrors = false;                 ///< source values instead of sums
  std::uint32_t entries = 0;            ///< distinct destinations, or mirrors
  std::uint32_t slots = 0;              ///< values sent; `edge`: one for each edge, else as entries
  std::uint32_t first_destination = 0;  ///< of sums: slot s is destination first_destination + s
};

/// Streams to each peer.
constexpr int streams_per_peer(Strategy strategy, int workers) noexcept {
  return strategy == Strategy::worker ? workers : strategy == Strategy::cover ? 2 : 1;
}

/// How the receiver orders the entries of a stream: by index in its own layout.
struct Arrivals {
  std::vector<std::uint32_t> targets;    ///< [slot]: index of the owned vertex; ascending
  std::vector<std::uint32_t> positions;  ///< [entry]: its position among the stream's entries, for the sender
};

/// The receiver's side: `entries[e]` is the local number of entry e, `slots_of[e]` its number of slots
/// (empty: one each). Throws Error naming the peer when a local number is out of range or comes twice.
Arrivals order_arrivals(const OwnedVertices& owned, std::span<const std::uint32_t> entries,
                        std::span<const std::uint32_t> slots_of, int peer);

/// The sender's side. The destinations of a process are numbered [owned vertices by index][slots of stream
/// 0][of stream 1]... Made in two steps, because the receiver chooses the order of the slots: construct,
/// exchange entries for positions (order_arrivals), then place() and finish(). After that all calls are const
/// and thread safe.
class ExchangePlan {
 public:
  /// Reads all edges of owned vertices, twice for strategy `edge`. Takes 4 bytes for each vertex of the graph
  /// (and worker, for strategy `worker`) in a job of several processes. Throws Error.
  ExchangePlan(const graph::GraphFile& graph, const Ownership& ownership, int rank,
               const OwnedVertices& owned, Strategy strategy, int workers, const ForEach& for_each);

  std::span<const Stream> streams() const noexcept { return streams_; }
  /// [entry] of sums: local number at the peer, ascending.
  const std::vector<std::uint32_t>& entries(std::size_t stream) const noexcept { return entries_[stream]; }
  /// [slot] of the mirrors for a peer: index of the owned vertex, ascending. Empty unless strategy `cover`.
  std::span<const std::uint32_t> mirrors(int peer) const noexcept;
  /// [peer]; none unless strategy `cover`, or in a job of one process.
  const PairCovers& covers() const noexcept { return covers_; }
  /// Strategy `cover`: what each peer computes for this process, and about free_edges[peer] of the free
  /// edges. Before anything is read.
  void move_edges(std::span<const std::uint64_t> free_edges, const ForEach& for_each);
  /// Of a peer; none unless strategy `cover`.
  std::span<const std::uint32_t> moved(int peer) const noexcept;
  /// Over all peers; see PairCover. 0 unless strategy `cover`.
  std::uint64_t matching() const noexcept;
  /// [entry]: number of slots; only for strategy `edge`.
  std::span<const std::uint32_t> slots_of(std::size_t stream) const noexcept;
  void place(std::size_t stream, std::span<const std::uint32_t> positions);
  void finish(const ForEach& for_each);

  /// [slot]: local number at the peer, what travels as id.
  std::vector<std::uint32_t> slot_ids(std::size_t stream) const;
  /// [slot]: index of the owned vertex whose value travels there; only for strategy `edge`.
  std::span<const std::uint32_t> slot_sources(std::size_t stream) const noexcept;
  std::uint32_t sources() const noexcept { return owned_.count(); }
  std::uint64_t edges() const noexcept { return owned_.edges(); }
  /// Edges of owned vertices with indexes [first, last), as OwnedVertices; with `cover` more than read()
  /// gives.
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return owned_.edges(first, last);
  }
  std::uint32_t destinations() const noexcept { return destinations_; }
  /// Destinations (after address_by_column(): their addresses) of the edges of owned vertices [first, last)
  /// that this process computes (`edge`: only those to owned vertices, see slot_sources()), at most kRowBlock
  /// and starting at a multiple of it, in order of their indexes; ends[i]: number of them up to and including
  /// vertex first+i. Overwrites both.
  static constexpr std::uint32_t kRowBlock = 64;
  void read(std::uint32_t first, std::uint32_t last, std::vector<std::uint32_t>& destinations,
            std::vector<std::uint32_t>& ends) const;
  /// Cuts the destinations into columns of at most `width`, so that none holds edges of two peers and none
  /// many more than `edges_per_column` edges (estimated from every sixteenth block of rows). Returns the
  /// bounds: columns + 1 of them.
  std::vector<std::uint32_t> cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                         const ForEach& for_each) const;
  /// From now on read() gives addresses, see ColumnAddresses; `bounds` as cut_columns() gave them. In a job
  /// of one process borrows the indexes of `own`, the vertices of this plan. Throws Error when there are too
  /// many columns.
  void address_by_column(std::span<const std::uint32_t> bounds, OwnedVertices& owned,
                         const ForEach& for_each);
  /// Gives back what address_by_column() borrowed. Nothing can be read any more.
  void return_indexes(std::span<const std::uint32_t> bounds, OwnedVertices& owned, const ForEach& for_each);
  /// [local number]: destination or address of the owned vertex. Not for strategy `worker`, nor in a job of
  /// one process.
  topology::PageVector<std::uint32_t> owned_addresses() const;

 private:
  void find_entries(const ForEach& for_each);
  void count_slots();
  void find_slot_sources();
  void number(std::uint32_t first, std::span<std::uint32_t> targets,
              std::span<const std::uint32_t> ends) const;
  void number_owned(std::span<std::uint32_t> vertices) const;
  template <class Number>
  void for_each_entry(std::size_t stream, const Number& number);
  const graph::GraphFile& graph_;
  const Ownership& ownership_;
  OwnerFilter filter_;
  const OwnedVertices& owned_;
  std::uint32_t rank_;
  Strategy strategy_;
  std::size_t workers_;
  std::uint32_t lists_;  ///< of sums, to each peer
  PairCovers covers_;
  std::vector<MovedEdges> moved_;  ///< [peer], strategy `cover`
  /// [peer]: indexes of sources whose free edges move there, too; behind the last peer: to any of them.
  std::vector<Bits> whole_;
  std::vector<Stream> streams_;                       ///< [peer * streams_per_peer + list]
  std::vector<std::vector<std::uint32_t>> entries_;   ///< [stream]
  std::vector<std::vector<std::uint32_t>> slots_of_;  ///< [stream][entry], strategy `edge`
  /// [list][vertex]: its (first) destination or address, for edges of this list; before finish(), of remote
  /// ones, the entry and then its position. Empty in a job of one process before address_by_column(): there,
  /// the index.
  std::vector<topology::PageVector<std::uint32_t>> destination_of_;
  std::vector<std::uint32_t> slot_sources_;  ///< strategy `edge`: [slot of all streams]
  std::uint32_t first_remote_;               ///< destination or address
  std::uint32_t destinations_ = 0;
};

}  // namespace edgewire::plan
