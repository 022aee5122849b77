// The dense/plan folder decides which values each pair of processes exchanges, and in which slots. It
// computes covers, counts bytes, and does no communication. This file has the exchange plan of one process:
// which values it sends to each peer, and in which slots.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "dense/plan/owned_vertices.h"
#include "dense/plan/owner_filter.h"
#include "dense/plan/pair_covers.h"
#include "dense/plan/volume.h"
#include "edgewire/detail/page_vector.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "partition/vertex_set.h"

namespace edgewire::plan {

/// The values of one kind that go to one peer in every iteration. Each value has its slot. Strategy `worker`
/// has one stream for each worker and peer. Strategy `cover` has two for each peer: partial sums, then
/// mirrors. All other strategies have one.
struct Stream {
  int peer = 0;
  int list = 0;               ///< number of the stream among those to this peer
  bool mirrors = false;       ///< whether it has source values instead of partial sums
  std::uint32_t entries = 0;  ///< number of distinct destinations, or mirrors
  std::uint32_t slots = 0;  ///< number of values sent: one for each entry; strategy `edge`: one for each edge
  /// First destination of partial sums: slot s is first_destination + s.
  std::uint32_t first_destination = 0;
};

/// Returns the number of streams to each peer.
constexpr int streams_per_peer(Strategy strategy, int workers) noexcept {
  return strategy == Strategy::worker ? workers : strategy == Strategy::cover ? 2 : 1;
}

/// The order in which the receiver wants the entries of a stream: by index in its layout.
struct Arrivals {
  NumberedBy<Slot, std::vector<OwnedIndex>> targets;  ///< destinations, ascending
  /// Position of each entry among the stream's entries, for the sender, [entry].
  std::vector<std::uint32_t> positions;
};

/// Orders the entries, at the receiver. entries[e]: the vertex of entry e. slots_of[e]: its number of slots;
/// empty: one each. Throws Error that names the peer when a local number is out of range or occurs twice.
Arrivals order_arrivals(const OwnedVertices& owned, std::span<const LocalNumber> entries,
                        std::span<const std::uint32_t> slots_of, int peer);

/// A function that returns, for each peer, the number of free edges of its cover that move to it (see
/// PairCover). An empty result means that no edges move. `edges`: the number of edges of all owned vertices.
using FreeEdges = std::function<std::vector<std::uint64_t>(const PairCovers& covers, std::uint64_t edges)>;

/// The plan of the sender. It numbers all destinations of the process: first the owned vertices by index,
/// then the slots of stream 0, of stream 1, and so on. It is const and thread safe.
///
/// The receiver chooses the order of the slots: it puts the entries in order (order_arrivals()), and
/// put_in_order() completes the plan. Tiles are made when destinations have addresses (to_addresses()).
class ExchangePlan final : public EdgeReader {
 public:
  /// Makes the plan, which lacks its order: reads all edges of owned vertices, several times. In a job of
  /// several processes it takes the memory of VertexNumbers for the owned vertices and the destinations of
  /// their edges; for strategy `worker`, so much for each worker. `weighted`: edges take the graph's weights
  /// along. Strategy `cover`: moves edges to the peers, which then compute them: those that must move, and
  /// about as many as `free_edges` says. Ownership, and the graph of the rows, outlive it. Throws Error.
  ExchangePlan(const partition::OwnedRows& rows, const partition::Ownership& ownership, int rank,
               OwnedVertices owned, Strategy strategy, int workers, const ForEach& for_each,
               bool weighted = false, const FreeEdges& free_edges = {});

  Strategy strategy() const noexcept { return strategy_; }
  /// Returns the streams, which lack their destinations until the plan is in order.
  std::span<const Stream> streams() const noexcept { return streams_; }
  const OwnedVertices& owned() const noexcept { return owned_; }
  /// Returns the owned vertices that are mirrored at a peer, ascending. With other strategies than `cover`
  /// there are none.
  NumberedBy<Slot, std::span<const OwnedIndex>> mirrors(int peer) const noexcept {
    if (covers_.empty()) return {};
    return covers_.mirrors(peer);
  }
  /// Returns the cover of each peer. There are covers only with strategy `cover` in a job of several
  /// processes.
  const PairCovers& covers() const noexcept { return covers_; }
  /// Returns the sum of PairCover::matching over all peers. With other strategies than `cover` it is 0.
  std::uint64_t matching() const noexcept;
  /// Returns the vertex's local number at the peer for each entry of a stream of partial sums, ascending.
  const std::vector<LocalNumber>& entries(std::size_t stream) const noexcept { return entries_[stream]; }
  /// Returns the number of slots of each entry. It is only for strategy `edge`.
  std::span<const std::uint32_t> slots_of(std::size_t stream) const noexcept {
    return slots_of_.empty() ? std::span<const std::uint32_t>() : slots_of_[stream];
  }
  /// Returns the edges that were moved to the peer, until the plan is in order. With other strategies than
  /// `cover` there are none.
  std::span<const std::uint32_t> moved(int peer) const noexcept {
    return moved_.empty() ? std::span<const std::uint32_t>() : moved_[peer];
  }
  /// Gives the entries their slots. positions(stream): the positions of the entries in the receiver's order.
  /// Throws Error that names a peer whose order is faulty.
  void put_in_order(const std::function<std::span<const std::uint32_t>(std::size_t stream)>& positions,
                    const ForEach& for_each);
  /// Returns the vertex's local number at the peer, which is sent as id.
  NumberedBy<Slot, std::vector<LocalNumber>> slot_ids(std::size_t stream) const;
  /// Returns the owned vertex whose value is sent. It is only for strategy `edge`.
  NumberedBy<Slot, std::span<const OwnedIndex>> slot_sources(std::size_t stream) const noexcept {
    return of_stream(slot_sources_, stream);
  }
  /// Returns the weight of the slot's edge. It is only for strategy `edge` with weights.
  NumberedBy<Slot, std::span<const double>> slot_weights(std::size_t stream) const noexcept {
    return of_stream(slot_weights_, stream);
  }
  /// Frees the memory that only slot_ids(), slot_sources() and slot_weights() need. They may not be called
  /// any more.
  void forget_slots();
  std::uint32_t sources() const noexcept override { return owned_.count(); }
  std::uint64_t edges() const noexcept { return owned_.edges(); }
  /// Counts the edges of these rows. With `cover`, read() returns fewer, since some have moved.
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept override {
    return owned_.edges(first, last);
  }
  std::size_t weight_bytes() const noexcept override { return plan::weight_bytes(rows_.graph(), weighted_); }
  std::uint32_t destinations() const noexcept { return destinations_; }
  /// Sets `rows` to the edges of owned vertices [first, last) that this process computes (`edge`: only those
  /// to owned vertices, see slot_sources()), in order of their indexes. Before to_addresses(), destinations
  /// have numbers.
  void read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const override;
  /// Cuts the destinations into columns of at most `width`, so that none holds edges of two peers and none
  /// many more than `edges_per_column` edges (estimated from every sixteenth block of rows). Returns the
  /// bounds, one more than there are columns. Sets `edges`, if it is not null, to the estimates by column.
  std::vector<std::uint32_t> cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                         const ForEach& for_each,
                                         std::vector<std::uint64_t>* edges = nullptr) const;
  /// Turns the destinations into addresses. `bounds`: the result of cut_columns(). Throws Error when there
  /// are too many columns.
  void to_addresses(std::span<const std::uint32_t> bounds, const ForEach& for_each);
  /// Returns the address of each owned vertex's sum, by local number. There are none with strategy `worker`,
  /// nor in a job of one process.
  topology::PageVector<std::uint32_t> owned_addresses() const;
  /// Returns the vertices, for another plan, when there are no addresses yet.
  OwnedVertices take_owned() && { return std::move(owned_); }
  /// Returns the vertices as they were. `bounds`: those of to_addresses().
  OwnedVertices take_owned(std::span<const std::uint32_t> bounds, const ForEach& for_each) &&;

 private:
  void move_edges(const FreeEdges& free_edges, const ForEach& for_each);
  void place(std::size_t stream, std::span<const std::uint32_t> positions);
  void number_slots(const ForEach& for_each);
  /// Returns whether each edge to another process has its slot, and no destination in this process.
  bool has_edge_slots() const noexcept { return strategy_ == Strategy::edge && !destination_of_.empty(); }
  void find_entries(const ForEach& for_each);
  void count_slots();
  void find_slot_sources();
  void fetch(std::uint32_t last) const noexcept;
  void read_weighted(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const;
  void number(std::uint32_t first, std::span<const PlainId> targets, std::span<std::uint32_t> numbers,
              std::span<const std::uint32_t> ends) const;
  template <class Value>
  std::span<const Value> of_stream(const std::vector<Value>& values, std::size_t stream) const noexcept {
    if (values.empty()) return {};
    const Stream& s = streams_[stream];
    return std::span(values).subspan(s.first_destination - owned_.count(), s.slots);
  }
  template <class Take>
  void reach(std::size_t list, const ForEach& for_each, const Take& take) const;
  /// Returns, in a job of one process, the index or address of each vertex.
  std::span<const std::uint32_t> numbers_alone() const noexcept {
    return addresses_.empty() ? plain(owned_.indexes()) : std::span<const std::uint32_t>(addresses_);
  }
  template <class Number>
  void for_each_entry(std::size_t stream, const Number& number);
  partition::OwnedRows rows_;
  const partition::Ownership& ownership_;
  OwnerFilter filter_;
  OwnedVertices owned_;
  std::uint32_t rank_;
  Strategy strategy_;
  bool weighted_;
  std::size_t workers_;
  std::uint32_t lists_;  ///< number of streams of partial sums to each peer
  PairCovers covers_;
  std::vector<MovedEdges> moved_;  ///< moved edges, [peer], with strategy `cover`
  /// Indexes of the sources whose free edges move to a peer, [peer]. One more after the last peer: to any
  /// peer.
  std::vector<Bits> whole_;
  std::vector<Stream> streams_;                    ///< streams, [peer * streams_per_peer + list]
  std::vector<std::vector<LocalNumber>> entries_;  ///< local numbers of the entries at the peer, [stream]
  /// Numbers of slots, [stream][entry], with strategy `edge`.
  std::vector<std::vector<std::uint32_t>> slots_of_;
  /// The (first) destination or address of a vertex for edges of a list, [list][vertex], of those vertices
  /// that have one. First a vertex of another process has its entry here, and after place() its
  /// position. A job of one process leaves this empty.
  std::vector<partition::VertexNumbers> destination_of_;
  /// The addresses of vertices, in a job of one process, which to_addresses() makes of the indexes.
  topology::PageVector<std::uint32_t> addresses_;
  std::vector<OwnedIndex> slot_sources_;  ///< sources of slots, [slot of all streams], with strategy `edge`
  std::vector<double> slot_weights_;      ///< weights of slots, likewise
  std::uint32_t first_remote_;            ///< first remote destination or address
  std::uint32_t destinations_ = 0;
};

}  // namespace edgewire::plan
