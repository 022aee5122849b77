// The job folder assembles a job from the rooms below it. This file:
// what every dense kernel needs before it can iterate: owned vertices, exchange plan, connected peers, tiles.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disk/read_figures.h"
#include "engine/iteration.h"
#include "exchange/exchange.h"
#include "exchange/seat.h"
#include "graph/graph_file.h"
#include "job/disk_tiles.h"
#include "job/order_choice.h"
#include "launch/bootstrap.h"
#include "plan/owned_vertices.h"
#include "plan/ownership.h"
#include "plan/plan_file.h"
#include "plan/volume.h"
#include "tiles/tile.h"
#include "topology/machine.h"
#include "topology/page_nodes.h"
#include "topology/worker_pool.h"
#include "transport/transport.h"

namespace edgewire::job {

struct DenseOptions {
  exchange::SeatOptions seat{};
  plan::Strategy strategy = plan::Strategy::slots;
  /// Take `cover` instead of `slots` when the wire would otherwise be the limit.
  bool choose_strategy = false;
  /// Edges per second and worker that choices go by instead of a measurement; 0: measure.
  double assumed_compute_rate = 0;
  /// Bytes per second that choices go by instead of a measurement; 0: measure.
  double assumed_link_rate = 0;
  /// f64: messages are doubles, otherwise floats. 16-bit ones with strategies slots and cover only.
  plan::Encoding encoding = plan::Encoding::f32;
  /// Edges have their weights, for programs that use them; the graph has weights.
  bool weighted = false;
  /// hash, ranges or the path of a partition file. "auto" takes hash or ranges, "auto,FILE" also the file:
  /// the one that takes the least time on the link and the cores. "hilbert" and "grid": processes hold blocks
  /// of edges; the strategy is then `slots`, and there is no plan cache (see check()).
  std::string ownership = "hash";
  plan::Layout layout = plan::Layout::degree;
  bool choose_layout = false;  ///< measure which one is faster
  OrderOptions order;          ///< strips, where edges are on disks
  /// Folder for the plan cache; empty: no cache. The cache stores what loading and planning made, and what
  /// was chosen or measured, for the next run with the same graph and options.
  std::string plan_cache;
  /// Edges are on disks, in a file in each of these folders; empty: in memory. Needs a plan cache. Not with
  /// strategy `cover`.
  std::vector<std::string> devices;
  std::uint64_t memory_bytes =
      0;  ///< of a process with edges on disks, within which tiles are built and read; 0: ample
  std::uint64_t link_bits_per_s = 0;  ///< line rate of shaped links, 0: as they are; for the plan cache only
  /// Called by any worker, with the name of a step, how much of it is done, and how much there is in all.
  std::function<void(std::string_view step, std::uint64_t done, std::uint64_t total)> progress;
  std::string kernel;  ///< what is computed, in words: must be the same in all processes
};

/// none: no cache was wanted, or it cannot be written. written: the next run will use it. used: the plan came
/// from the cache, and the graph's targets were not read.
enum class PlanSource { none, written, used };
std::string_view to_name(PlanSource source) noexcept;

/// How many edges a column of a process with so many edges gets at most, where its width allows.
std::uint64_t column_edges(std::uint64_t edges, int workers) noexcept;
/// How large the tiles of such a job get.
tiles::TileSizes tile_sizes(const DenseOptions& options, const topology::Machine& machine);

/// Throws UsageError when an option makes no sense, alone or beside another one, and Error when the graph
/// does not have what it asks for. A DenseJob begins with it.
void check(const DenseOptions& options, const graph::GraphFile& graph);

/// Counts, for each kind of memory of a process, on which nodes its pages lie.
struct MemoryFigures {
  static constexpr std::array kKinds{"tiles", "values", "messages", "accumulators", "inbox"};
  std::array<topology::PageCount, kKinds.size()> kinds;
  bool several_nodes = false;  ///< on this machine
};

/// One process's part of a job with a dense kernel. Collective; throws Error. `graph` and `bootstrap` outlive
/// it.
class DenseJob {
 public:
  DenseJob(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const DenseOptions& options,
           const topology::Machine& machine = topology::discover());

  launch::Bootstrap& bootstrap() const noexcept { return bootstrap_; }
  const graph::GraphFile& graph() const noexcept { return graph_; }
  bool weighted() const noexcept { return weighted_; }  ///< see DenseOptions
  const plan::Ownership& ownership() const noexcept { return *ownership_; }
  const std::string& ownership_name() const noexcept { return ownership_name_; }
  /// At rank 0: lines that say why it was chosen; empty when it was given.
  const std::string& ownership_table() const noexcept { return ownership_table_; }
  const plan::OwnedVertices& owned() const noexcept { return *owned_; }
  const tiles::Tiles& tiles() const noexcept { return tiles_; }
  const tiles::TileOrder& tile_order() const noexcept { return order_.tiles; }
  /// What one sweep over tiles() reads, and writes into bins, beside messages and accumulators.
  std::uint64_t sweep_bytes() const {
    return order_.tiles.bytes(tiles_, plan::message_bytes(exchange_->encoding()));
  }
  /// [peer]: the edges of the sources that the peer mirrors here, by local column; no columns when there are
  /// none.
  std::span<const tiles::Tiles> mirror_tiles() const noexcept { return mirror_tiles_; }
  /// Mirrors that are sources of tiles(), behind the owned vertices: where processes hold blocks of edges.
  std::uint32_t mirror_sources() const noexcept { return mirror_sources_; }
  const transport::Transport& link() const noexcept { return seat_.link(); }
  /// Values from every process to every other one in an iteration; the same in all processes.
  const plan::Traffic& traffic() const noexcept { return traffic_; }
  topology::WorkerPool& pool() noexcept { return seat_.pool(); }

  /// Asks for the memory of the loops' arrays where it is used: values on the node of their column, messages,
  /// which all workers read, on all nodes in turn. Before the arrays are touched.
  void place(const engine::Loops& loops) const;
  /// Sets options.column_nodes and options.worker_nodes. Messages have as many bytes as options.encoding
  /// says.
  engine::IterationResult iterate(engine::Loops& loops, engine::IterationOptions options);

  /// After iterate(): where the pages of this process were.
  const MemoryFigures& memory_figures() const noexcept { return memory_figures_; }

  /// See exchange::Seat.
  double measure_link() { return seat_.measure_link(bootstrap_); }

  /// After iterate(), where edges are on disks. Measures what all processes read at the same time from the
  /// same files when they do nothing else. Collective.
  void measure_disks();
  const disk::ReadFigures& disk_figures() const noexcept { return disk_figures_; }
  /// Null where edges are in memory.
  const DiskTiles* disk_tiles() const noexcept { return disk_tiles_.get(); }

  plan::Strategy strategy() const noexcept { return strategy_; }
  /// Why it was chosen; empty when it was given.
  const std::string& strategy_reason() const noexcept { return strategy_reason_; }
  plan::Layout layout() const noexcept { return layout_; }
  /// Why it was chosen; empty when it was given.
  const std::string& layout_reason() const noexcept { return layout_reason_; }
  tiles::Order order() const noexcept { return order_.order; }
  /// Why it was chosen; empty when it was given.
  const std::string& order_reason() const noexcept { return order_.reason; }
  /// Of this process's covers: no plan sends fewer values (strategy `cover`).
  std::uint64_t matching() const noexcept { return matching_; }

  /// Where the plan of all processes came from and went.
  PlanSource plan_source() const noexcept { return plan_source_; }
  /// Why the cache's files were not used though they are there, or not written; else empty.
  const std::string& plan_cache_note() const noexcept { return plan_cache_note_; }

  /// Host, cores, memory and, where there are other hosts, address of this process, in words.
  std::string place() const {
    const std::string link = seat_.link().describe();
    return link.empty() ? seat_.place() : seat_.place() + "; " + link;
  }
  /// Sent by this process before iterate(): handshakes, collective calls, lists of the plan.
  std::uint64_t setup_messages() const noexcept { return setup_messages_; }

  double seconds_load = 0;  ///< verifying and ordering the owned vertices, or reading them and the tiles
  double seconds_plan = 0;  ///< from there to the first iteration

 private:
  void build(const DenseOptions& options, const topology::Machine& machine);
  void build_block(const DenseOptions& options, const topology::Machine& machine);
  plan::ForEach on_workers(const DenseOptions& options, const std::string_view& step);
  void for_each_rows(const plan::ForEach& for_each,
                     const std::function<void(std::uint64_t first, std::uint64_t last)>& work) const;
  std::vector<std::string> edge_files(const DenseOptions& options) const;
  void build_on_disks(const DenseOptions& options, const plan::ExchangePlan& plan,
                      const tiles::TileSizes& sizes);
  void open_disk_tiles(const DenseOptions& options, TileSegments segments);
  void plan_reads(const DenseOptions& options);
  void agree(const DenseOptions& options);
  void choose_ownership(const DenseOptions& options);
  void order_vertices(const DenseOptions& options, const tiles::TileSizes& sizes,
                      const plan::ForEach& for_each);
  void choose_order(const DenseOptions& options, const topology::Machine& machine);
  double link_rate(const DenseOptions& options);
  double compute_rate(const DenseOptions& options);
  std::unique_ptr<plan::ExchangePlan> make_plan(const DenseOptions& options, const plan::ForEach& for_each);
  void balance(plan::ExchangePlan& plan, const plan::ForEach& for_each);
  void spread_columns(const topology::Machine& machine, std::span<const std::uint64_t> edges);
  std::size_t local_columns() const;
  void deal_columns();
  void place_inbox();
  std::vector<topology::PlacedMemory> tile_memory() const;
  std::vector<topology::PlacedMemory> array_memory(const engine::VertexArray& array) const;
  void count_memory(const engine::Loops& loops, const engine::IterationResult& result);
  void build_mirror_tiles(const plan::ExchangePlan& plan, const tiles::TileSizes& sizes);
  void count_traffic();
  friend class PlanCache;
  launch::Bootstrap& bootstrap_;
  const graph::GraphFile& graph_;
  bool weighted_;
  exchange::Seat seat_;
  std::optional<plan::Ownership> ownership_;
  std::string ownership_name_, ownership_table_;
  std::unique_ptr<plan::OwnedVertices> owned_;
  std::unique_ptr<exchange::Exchange> exchange_;
  std::vector<std::uint32_t> column_bounds_;
  std::vector<int> memory_nodes_;  ///< [column]: os_index
  std::vector<int> column_nodes_;  ///< [local column]: index of a node
  std::vector<int> worker_nodes_;  ///< [worker]: os_index
  std::vector<int> all_nodes_;     ///< of the workers, each once: os_index
  /// Stretches of owned vertices by index: vertices [stretch_ends_[i - 1], stretch_ends_[i]) belong to node
  /// stretch_nodes_[i] (os_index).
  std::vector<std::uint32_t> stretch_ends_;
  std::vector<int> stretch_nodes_;
  MemoryFigures memory_figures_;
  std::shared_ptr<plan::PlanFileReader> plan_file_;  ///< where tiles are, when they come from the plan cache
  std::unique_ptr<DiskTiles> disk_tiles_;            ///< null: tiles are in memory
  std::vector<int> column_workers_;                  ///< [local column], with tiles on disks
  disk::ReadFigures disk_figures_;
  tiles::Tiles tiles_;
  OrderChoice order_;
  std::vector<tiles::Tiles> mirror_tiles_;  ///< [peer]
  std::uint32_t mirror_sources_ = 0;
  plan::Traffic traffic_;
  plan::Strategy strategy_ = plan::Strategy::slots;
  plan::Layout layout_ = plan::Layout::degree;
  std::string strategy_reason_, layout_reason_;
  double link_bytes_per_s_ = 0;    ///< measured when first needed
  double worker_edges_per_s_ = 0;  ///< as well
  std::uint64_t matching_ = 0;
  PlanSource plan_source_ = PlanSource::none;
  std::string plan_cache_note_;
  std::uint64_t setup_messages_ = 0;
};

}  // namespace edgewire::job
