// The plan of a process that holds a block of the edge matrix: edges whose sources and destinations may both
// belong to other processes. For each of its sources it has the owned vertex or a mirror; for each of its
// destinations the owned vertex or a partial sum.
//
// Steps, each of which takes what the one before has made: share_of_block(), OwnedVertices, BlockPlan,
// BlockColumns. No process asks another one: all see the same edges, and so know the same lists in the same
// order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph_file.h"
#include "plan/count.h"
#include "plan/edge_partition.h"
#include "plan/edge_rows.h"
#include "plan/owned_vertices.h"
#include "plan/ownership.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

/// Whether the ownership has this name: "hilbert" or "grid". Processes then own edges, and the owners of
/// vertices follow from that.
bool owns_edges(std::string_view ownership) noexcept;
/// Whether processes can send with this strategy under this ownership. Where they own edges, they send
/// mirrors and partial sums, in slots.
bool goes_with(Strategy strategy, std::string_view ownership) noexcept;
/// Those of kStrategies that go with the ownership, as "slots or cover".
std::string strategies_for(std::string_view ownership);
/// How the edges are divided under the ownership `how`, for which owns_edges() holds. Reads all rows, which
/// are verified.
EdgePartition partition_edges(std::string_view how, const Rows& rows, int processes, int threads);

/// What one process has to do with the vertices: who owns them, and which values it sends and gets. All lists
/// ascend.
struct BlockShare {
  struct Peer {
    std::vector<VertexId> mirrors_to, mirrors_from;  ///< sources
    std::vector<VertexId> sums_to, sums_from;        ///< destinations
  };
  Ownership ownership;
  std::vector<Peer> peers;  ///< empty lists for the process itself
  std::uint64_t edges = 0;  ///< that it holds
};

/// The share of `rank`. Values are those that count_partitioned() counts. Reads all rows, which are verified.
BlockShare share_of_block(const Rows& rows, const EdgePartition& partition, int rank,
                          const CountOptions& options);

/// The sources of the block are numbered: first the owned vertices by index, then the mirrors of peer 0, of
/// peer 1, and so on. Its destinations are numbered: first the owned vertices by index, then the partial sums
/// for peer 0, for peer 1, and so on. Mirrors and partial sums of a pair of processes are in the order in
/// which their owner keeps the vertices, so that it reads or adds them front to back.
class BlockPlan {
 public:
  /// Values between this process and a peer, in the order of slots.
  struct Peer {
    NumberedBy<Slot, std::vector<OwnedIndex>> mirrors_to;     ///< whose messages are sent; ascending
    NumberedBy<Slot, std::vector<LocalNumber>> mirrors_from;  ///< sources, as the peer numbers them
    NumberedBy<Slot, std::vector<OwnedIndex>> sums_from;      ///< destinations; ascending
    std::uint32_t sums_to = 0;  ///< how many; slot s is destination first_sum + s
    std::uint32_t first_sum = 0;
  };

  /// `share`: as share_of_block() found it for `rank`. `owned`: the vertices of `rank` under the share's
  /// `ownership`, in `layout`, which is the same in all processes. Keeps 4 bytes for each vertex of the graph
  /// and 4 for each mirror. Reads the rows of its sources once. Graph, ownership and owned vertices outlive
  /// it. Throws Error.
  BlockPlan(const graph::GraphFile& graph, EdgePartition partition, std::vector<BlockShare::Peer> share,
            const Ownership& ownership, int rank, const OwnedVertices& owned, Layout layout, int workers,
            const ForEach& for_each, bool weighted);

  std::span<const Peer> peers() const noexcept { return peers_; }
  std::uint32_t sources() const noexcept {
    return owned_.count() + static_cast<std::uint32_t>(mirrors_.size());
  }
  std::uint32_t mirrors() const noexcept { return static_cast<std::uint32_t>(mirrors_.size()); }
  std::uint32_t destinations() const noexcept { return destinations_; }
  /// See plan::weight_bytes().
  std::size_t weight_bytes() const noexcept { return plan::weight_bytes(graph_, weighted_); }
  std::uint64_t edges() const noexcept { return edges_before_.back(); }
  /// The number of edges of the sources [first, last); first is a multiple of kRowBlock, last too or
  /// sources().
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return edges_before_[(last + kRowBlock - 1) / kRowBlock] - edges_before_[first / kRowBlock];
  }
  static constexpr std::uint32_t kRowBlock = 64;
  /// As ExchangePlan::cut_columns().
  std::vector<std::uint32_t> cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                         std::vector<std::uint64_t>* edges = nullptr) const;

 private:
  friend class BlockColumns;
  VertexId vertex(std::uint32_t source) const noexcept {
    return source < owned_.count() ? owned_.ids()[OwnedIndex(source)] : mirrors_[source - owned_.count()];
  }
  void read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const;
  void read_weighted(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const;
  void number(std::vector<BlockShare::Peer> share, const Ownership& ownership, Layout layout);
  void count_edges(int workers, const ForEach& for_each);

  const graph::GraphFile& graph_;
  EdgePartition partition_;
  const OwnedVertices& owned_;
  std::uint32_t rank_;
  bool weighted_;
  std::vector<Peer> peers_;
  std::vector<VertexId> mirrors_;                       ///< [source - owned]
  topology::PageVector<std::uint32_t> destination_of_;  ///< [vertex]; BlockColumns makes addresses of them
  std::uint32_t destinations_ = 0;
  std::vector<std::uint64_t> edges_before_;   ///< [source / kRowBlock]
  std::vector<std::uint64_t> granule_edges_;  ///< [destination / kColumnGranule]: by a sample
};

/// The edges of a block by column. Const and thread safe.
class BlockColumns {
 public:
  /// `bounds` as cut_columns() returned them. Throws Error when there are too many columns.
  BlockColumns(BlockPlan plan, std::span<const std::uint32_t> bounds, const ForEach& for_each);
  const BlockPlan& plan() const noexcept { return plan_; }
  std::uint32_t sources() const noexcept { return plan_.sources(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return plan_.edges(first, last);
  }
  std::size_t weight_bytes() const noexcept { return plan_.weight_bytes(); }
  /// Sets `rows` to the edges of the sources [first, last), at most kRowBlock from a multiple of it on.
  /// Destinations are addresses, see ColumnAddresses.
  void read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const { plan_.read(first, last, rows); }

 private:
  BlockPlan plan_;
};

}  // namespace edgewire::plan
