// The plan of a process that holds a block of the edge matrix: edges whose sources and destinations may both
// belong to other processes. For each of its sources it has the owned vertex or a mirror; for each of its
// destinations the owned vertex or a partial sum.
//
// Steps, each of which takes what the one before has made: EdgePartition, read_blocks(), route_block(),
// split() and unite(), lists_for() and take_announced() (dense/plan/block_routes.h), BlockPlan.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dense/plan/block_edges.h"
#include "dense/plan/block_routes.h"
#include "dense/plan/edge_rows.h"
#include "dense/plan/owned_vertices.h"
#include "edgewire/graph.h"
#include "partition/ownership.h"
#include "partition/vertex_set.h"

namespace edgewire::plan {

/// Returns whether processes can send with this strategy under this ownership. Where they own edges, they
/// send mirrors and partial sums, in slots.
bool goes_with(Strategy strategy, std::string_view ownership) noexcept;
/// Returns the strategies that go with the ownership, as "slots or cover".
std::string strategies_for(std::string_view ownership);

/// The destinations of the block are numbered: first the owned vertices by index, then the partial sums for
/// peer 0, for peer 1, and so on. Its sources have numbers from 0 for each process that owns them: the owned
/// vertices by index, the mirrors of a peer by slot. Mirrors and partial sums of a pair of processes are in
/// the order in which their owner keeps the vertices, so that it reads or adds them front to back.
class BlockPlan {
 public:
  /// Values between this process and a peer, in the order of slots.
  struct Peer {
    /// Owned vertices whose messages are sent; ascending.
    NumberedBy<Slot, std::vector<OwnedIndex>> mirrors_to;
    NumberedBy<Slot, std::vector<LocalNumber>> mirrors_from;  ///< sources, as the peer numbers them
    NumberedBy<Slot, std::vector<OwnedIndex>> sums_from;      ///< destinations; ascending
    std::uint32_t sums_to = 0;  ///< number of partial sums sent; slot s is destination first_sum + s
    std::uint32_t first_sum = 0;
  };

  /// Makes the plan. `edges`: those that `rank` computes. `lists`: the values that it sends and gets for
  /// them, by peer. `owned`: its vertices under `ownership`, in `layout`, which is the same in all processes.
  /// Keeps the edges, 4 bytes for each destination, the memory of a VertexSet and 8 bytes for each mirror.
  /// Graph, ownership and owned vertices outlive it. Throws Error.
  BlockPlan(const Graph& graph, BlockEdges edges, std::vector<PeerLists> lists,
            const partition::Ownership& ownership, int rank, const OwnedVertices& owned, Layout layout,
            int workers, const ForEach& for_each, bool weighted);

  std::span<const Peer> peers() const noexcept { return peers_; }
  std::uint32_t destinations() const noexcept { return destinations_; }
  std::uint64_t edges() const noexcept { return block_.edges(); }
  /// Does the same as ExchangePlan::cut_columns().
  std::vector<std::uint32_t> cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                         std::vector<std::uint64_t>* edges = nullptr) const;
  /// Turns the destinations into addresses, once, for Rows. `bounds`: the result of cut_columns(). Throws
  /// Error when there are too many columns.
  void to_addresses(std::span<const std::uint32_t> bounds, const ForEach& for_each);

  /// The edges of the sources of one owner: of the owned vertices, or of the mirrors of a peer.
  class Rows final : public EdgeReader {
   public:
    /// Makes the rows. The plan has addresses, and outlives them.
    Rows(const BlockPlan& plan, std::size_t owner) : plan_(plan), owner_(owner) {}
    std::uint32_t sources() const noexcept override { return plan_.sources(owner_); }
    std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept override {
      const auto& before = plan_.edges_before_[owner_];
      return before[(last + kRowBlock - 1) / kRowBlock] - before[first / kRowBlock];
    }
    std::size_t weight_bytes() const noexcept override {
      return plan::weight_bytes(plan_.graph_, plan_.weighted_);
    }
    void read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const override {
      plan_.read(owner_, first, last, rows);
    }

   private:
    const BlockPlan& plan_;
    std::size_t owner_;
  };

 private:
  std::uint32_t sources(std::size_t owner) const noexcept {
    return static_cast<std::uint32_t>(rows_of_[owner].size());
  }
  void read(std::size_t owner, std::uint32_t first, std::uint32_t last, EdgeRows& rows) const;
  void number(std::vector<PeerLists> lists, const partition::Ownership& ownership, Layout layout);
  std::vector<std::uint32_t> find_rows(std::span<const VertexId> sources) const;
  void count_edges(int workers, const ForEach& for_each);

  const Graph& graph_;
  BlockEdges block_;
  const OwnedVertices& owned_;
  std::uint32_t rank_;
  bool weighted_;
  std::vector<Peer> peers_;
  std::vector<std::vector<std::uint32_t>> rows_of_;  ///< row of the block by [owner of sources][source]
  partition::VertexNumbers destination_of_;          ///< numbers of destinations, then their addresses
  std::uint32_t destinations_ = 0;
  /// Number of edges before a row block, [owner of sources][source / kRowBlock].
  std::vector<std::vector<std::uint64_t>> edges_before_;
  /// Number of edges of a granule by a sample, [destination / kColumnGranule].
  std::vector<std::uint64_t> granule_edges_;
};

}  // namespace edgewire::plan
