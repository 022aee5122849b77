// This file has what a process of a dense job needs before it can iterate: the ownership of vertices, the
// exchange plan, and tiles. Free functions make it, from the graph or from the plan cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/array_file.h"
#include "base/rooms.h"
#include "dense/exchange/exchange.h"
#include "dense/job/dense_options.h"
#include "dense/job/disk_tiles.h"
#include "dense/plan/block_plan.h"
#include "dense/plan/owned_vertices.h"
#include "dense/plan/volume.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/tile_order.h"
#include "edgewire/graph.h"
#include "launch/bootstrap.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "partition/row_shares.h"
#include "process/local_process.h"
#include "topology/machine.h"

namespace edgewire::job {

/// Returns the number of local columns: those of the `owned` vertices, which come first.
std::size_t local_columns(std::span<const std::uint32_t> bounds, std::uint32_t owned);

struct Columns {
  std::vector<std::uint32_t> bounds;  ///< bounds of the columns, one more than there are columns
  std::vector<int> memory_nodes;      ///< nodes of the columns' memory (os_index), [column]
  std::vector<int> nodes;             ///< nodes of the local columns (index), [local column]
  std::vector<int> worker_nodes;      ///< nodes of the workers (os_index), [worker]
  std::vector<int> all_nodes;         ///< nodes of the workers (os_index), each once
  /// Stretches of owned vertices by index: vertices [stretch_ends[i - 1], stretch_ends[i]) belong to node
  /// stretch_nodes[i] (os_index).
  std::vector<std::uint32_t> stretch_ends;
  std::vector<int> stretch_nodes;

  std::size_t local() const noexcept { return nodes.size(); }
};

/// The choices, which are the same in all processes, and their reasons, empty where the choice was given.
struct Choices {
  std::string ownership;        ///< ownership as partition::Ownership::create() takes it
  std::string ownership_table;  ///< reasons in lines, at rank 0
  plan::Strategy strategy = plan::Strategy::slots;
  std::string strategy_reason{};
  plan::Layout layout = plan::Layout::degree;
  std::string layout_reason{};
  tiles::Order order = tiles::Order::strips;
  std::string order_reason{};

  /// Returns whether processes hold blocks of edges.
  bool edges_have_owners() const noexcept { return partition::owns_edges(ownership); }
  /// Returns whether each peer has two streams, the second one for mirrors.
  bool mirrors() const noexcept { return edges_have_owners() || strategy == plan::Strategy::cover; }
};

/// The edges of a process.
struct EdgeTiles {
  std::shared_ptr<ArrayFileReader> file{};  ///< file of the tiles, when they come from the plan cache
  std::unique_ptr<DiskTiles> disks{};       ///< tiles on disks; null: they are in memory
  tiles::Tiles own{};
  /// The edges of the sources that the peer mirrors here, by local column, or by all columns where processes
  /// hold blocks of edges; by peer, without columns when there are no edges.
  std::vector<tiles::Tiles> mirrored;

  /// Returns the work that a column takes.
  exchange::ColumnWork work(std::size_t column) const noexcept;
};

/// The plan of a process, as loading and planning have made it, in agreement with its peers.
struct ConnectedPlan {
  Choices choices;
  /// Matching of this process's covers: no plan sends fewer values (strategy `cover`).
  std::uint64_t matching = 0;
  partition::Ownership ownership;
  plan::OwnedVertices owned;
  /// The rows have the degrees of these vertices, and their weights where edges have some. The values at the
  /// start need them.
  partition::OwnedRows rows;
  Columns columns;
  EdgeTiles tiles;
  exchange::Exchange exchange;
  /// Time for verifying and ordering the owned vertices, or for reading them and the tiles.
  double seconds_load = 0;
  double seconds_plan = 0;  ///< time from there to the first iteration
};

/// The origin of a plan. none: no cache was wanted, or it cannot be written. written: the next run will use
/// it. used: it came from the cache, and the graph's targets were not read.
enum class PlanSource { none, written, used };
std::string_view to_name(PlanSource source) noexcept;

/// The origin of the plan of all processes.
struct CacheUse {
  PlanSource source = PlanSource::none;
  std::string note{};  ///< reason why the cache's files were not used though they are there, or not written
};

/// A plan whose columns have their lanes and their order.
struct DensePlan : ConnectedPlan {
  tiles::TileOrder tile_order{};
  /// Number of values from every process to every other one in an iteration; the same in all.
  plan::Traffic traffic{};
  CacheUse cache{};
  std::vector<int> column_workers{};  ///< workers of the local columns, [local column], with tiles on disks
  std::uint64_t read_ahead = 0;       ///< number of bytes that all workers read ahead, with tiles on disks
};

/// The things that plans are made of. All outlive the plan, except `options` and `machine`.
struct PlanTask {
  launch::Bootstrap& bootstrap;
  const Graph& graph;
  process::LocalProcess& process;
  const DenseOptions& options;
  const topology::Machine& machine;

  int workers() const noexcept { return options.process.workers; }
  std::uint32_t rank() const noexcept { return static_cast<std::uint32_t>(bootstrap.rank()); }
  std::size_t processes() const noexcept { return static_cast<std::size_t>(bootstrap.size()); }
  tiles::TileSizes tile_sizes() const noexcept;
  /// Returns the most edges of a column in a process with `edges`, where its width allows.
  std::uint64_t column_edges(std::uint64_t edges) const noexcept;
  /// Returns the name of a file that this process keeps for the next run: GRAPH.KIND-RANK-of-PROCESSES.
  std::string cache_name(std::string_view kind) const;
  /// Returns a loop that tells of the progress of `step`, a literal. The task outlives it.
  ForEach on_workers(const char* step) const;
};

/// Cuts the local columns into a stretch for each node, with a share of the edges as large as that of its
/// workers among all workers: vertices that a node's workers write then share pages with no others, but at
/// the stretch's ends. Columns of sums for peers go to the nodes of the workers in turn. `edges`: [column].
Columns spread_columns(const PlanTask& task, std::vector<std::uint32_t> bounds, std::uint32_t owned,
                       std::span<const std::uint64_t> edges);

/// The rates of links and cores: those of the options, or measured at the first call. Collective.
class Rates {
 public:
  explicit Rates(const PlanTask& task)
      : task_(task), link_(task.options.assumed_link_rate), compute_(task.options.assumed_compute_rate) {}
  /// Returns how many bytes per second the link of a process carries.
  double link();
  /// Returns the edges per second and worker.
  double compute();
  /// Returns the edges per second of a process.
  double compute_all() { return compute() * task_.workers(); }

  /// Returns whether the most loaded process needs longer for sending `values` than for computing `edges`,
  /// both of this process. Then `cover` is the better strategy, else `slots`; it sets both in `choices`.
  /// Collective.
  bool wire_limits(std::uint64_t values, std::uint64_t edges, Choices& choices);

 private:
  const PlanTask& task_;
  double link_, compute_;
};

// All are collective, and throw Error.
/// Takes the plan from the plan cache, or makes it from the graph; the cache then keeps it.
DensePlan make_dense_plan(const PlanTask& task);
/// Plans for processes that own vertices. `choices` have the ownership.
ConnectedPlan plan_vertices(const PlanTask& task, Rates& rates, Choices choices);
/// Plans for processes that hold blocks of edges. `choices` have the ownership, `hilbert` or `grid`.
ConnectedPlan plan_block(const PlanTask& task, Rates& rates, Choices choices);
/// Returns the vertices of this process, in the layout that is set in `choices`.
plan::OwnedVertices order_vertices(const PlanTask& task, const partition::OwnedRows& rows,
                                   const partition::Ownership& ownership, Choices& choices,
                                   const ForEach& for_each);
/// Chooses degree order, unless the given order is faster by a twentieth over all processes. Each process
/// whose given order keeps neighbours together (its edges meet in fewer tiles than by chance) builds and
/// sweeps the tiles of an eighth of the edges between its own vertices in both orders, in four runs of
/// neighbouring sources, so that they are as dense as all tiles. Returns the vertices in the layout that it
/// sets in `choices`, with the reason.
plan::OwnedVertices choose_layout(const PlanTask& task, const partition::OwnedRows& rows,
                                  const partition::Ownership& ownership, Choices& choices,
                                  const ForEach& for_each);
/// Returns choices with the ownership that the options name; of "auto" and "auto,FILE" with the best one, and
/// a line for each candidate: hash, ranges, FILE, and also grid and hilbert, where the strategy is slots,
/// cover or chosen, edges are in memory, and there is memory to count them. Rank 0 counts the values
/// (strategy `slots`) and edges of each process exactly, on all cores that the maker of the pool could use.
/// The best one has the shortest time of sending or computing, whichever is longer, of its most loaded
/// process. Blocks of edges must be better by 5 %, since their iterations have two steps.
Choices choose_ownership(const PlanTask& task, Rates& rates);
/// Calls work(first, last) for pieces of these rows of the graph.
void for_each_rows(const PlanTask& task, const graph::RowRange& rows, const ForEach& for_each,
                   const std::function<void(std::uint64_t first, std::uint64_t last)>& work);
/// Gives back the memory of the rows that tiles were made of, and pages of the file.
void release_rows(const PlanTask& task, partition::OwnedRows& rows, const partition::Ownership& ownership,
                  const ForEach& for_each);

/// Throws Error, with edges on disks, where the memory of a process does not suffice for its vertices.
void check_memory(const PlanTask& task);
/// Returns, with edges on disks, whether memory holds the rows of the graph, so that any order is as fast.
bool memory_holds_rows(const PlanTask& task);
/// Returns the name of the files of edges on disks, without the number of the disk:
/// GRAPH.edges-DIGITS-RANK-of-PROCESSES. The digits are those of subject_of_plan().
std::string edges_name(const PlanTask& task);
/// Writes tiles to disks. First removes the files of other plans, all but the latest ones.
EdgeTiles build_on_disks(const PlanTask& task, const plan::EdgeReader& edges, const Columns& columns);
/// Opens tiles that are on disks.
EdgeTiles open_disk_tiles(const PlanTask& task, TileSegments segments, std::span<const std::uint32_t> bounds);
/// Chooses the order of tiles: another one than `strips` if it is faster by 8 % over all processes, each of
/// which sweeps a sample of its columns in all orders. Bins are for edges without weights, and no candidate
/// where thin cells have few edges, or memory is short. Where all sources fit into the second cache, nothing
/// is measured. Collective where there is something to choose. Sets the order in the plan, and in its choices
/// with the reason.
void order_tiles(const PlanTask& task, DensePlan& plan);
/// Plans the reads of each worker, when the sends of each are known.
void plan_reads(const PlanTask& task, DensePlan& plan);

}  // namespace edgewire::job
