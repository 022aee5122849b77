// The dense/job folder assembles a job with a dense kernel from the rooms below it: it chooses by
// measurement, and has the plan cache and checkpoints. This file has one process's part of such a job.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "dense/engine/iteration.h"
#include "dense/job/dense_options.h"
#include "dense/job/dense_plan.h"
#include "disk/read_probe.h"
#include "edgewire/graph.h"
#include "edgewire/program.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "topology/machine.h"
#include "topology/page_nodes.h"

namespace edgewire::job {

class Checkpoint;

/// The nodes of the pages of each kind of memory of a process.
struct MemoryFigures {
  static constexpr std::array kKinds{"tiles", "values", "messages", "accumulators", "inbox"};
  std::array<topology::PageCount, kKinds.size()> kinds;
  bool several_nodes = false;  ///< whether this machine has several nodes
};

}  // namespace edgewire::job

namespace edgewire {

/// One process's part of a job with a dense kernel. Collective; throws Error. `graph` and `bootstrap` outlive
/// it.
class DenseJob {
 public:
  DenseJob(launch::Bootstrap& bootstrap, const Graph& graph, const job::DenseOptions& options,
           const topology::Machine& machine = topology::discover());

  launch::Bootstrap& bootstrap() const noexcept { return bootstrap_; }
  const Graph& graph() const noexcept { return graph_; }
  bool weighted() const noexcept { return weighted_; }  ///< returns whether edges have weights
  const partition::Ownership& ownership() const noexcept { return plan_.ownership; }
  const plan::OwnedVertices& owned() const noexcept { return plan_.owned; }
  /// Returns the rows of these vertices, see ConnectedPlan. Throws UsageError where their weights are gone.
  const partition::OwnedRows& rows() const;
  /// Gives back the memory of rows, but for degrees, once the values at the start are known.
  void release_rows();
  const tiles::Tiles& tiles() const noexcept { return plan_.tiles.own; }
  const tiles::TileOrder& tile_order() const noexcept { return plan_.tile_order; }
  /// Returns the bytes that one sweep over tiles() reads and writes, beside messages and accumulators.
  std::uint64_t sweep_bytes() const {
    return plan_.tile_order.bytes(plan_.tiles.own, plan::message_bytes(plan_.exchange.encoding()));
  }
  /// Returns the tiles of mirrors, see EdgeTiles.
  std::span<const tiles::Tiles> mirror_tiles() const noexcept { return plan_.tiles.mirrored; }
  const transport::Transport& link() const noexcept { return process_.link(); }
  /// Returns the values from every process to every other one in an iteration; the same in all processes.
  const plan::Traffic& traffic() const noexcept { return plan_.traffic; }
  process::LocalProcess& process() noexcept { return process_; }
  const process::LocalProcess& process() const noexcept { return process_; }
  topology::WorkerPool& pool() noexcept { return process_.pool(); }

  /// Lets an observer see the next iterations, which it outlives; null: there is none.
  void show(topology::Observer* observer) noexcept { observer_ = observer; }
  /// Lets the next iterations, which it outlives, write a checkpoint after every `every` of them, of a
  /// program whose values are doubles; null: none.
  void keep(job::Checkpoint* checkpoint, int every);

  /// Places the loops' arrays near their users: values on the node of their column, messages, which all
  /// workers read, on all nodes in turn. Call it before the arrays are touched.
  void place(const engine::Loops& loops) const;
  /// Returns the nodes of this process's pages, after run_loops().
  const job::MemoryFigures& memory_figures() const noexcept { return memory_figures_; }

  /// Returns the figures of reads, after run_loops() and where edges are on disks, but for times. It measures
  /// how much all processes read at the same time when they do nothing else. Collective.
  disk::ReadFigures measure_disks();
  /// Returns null where edges are in memory.
  const job::DiskTiles* disk_tiles() const noexcept { return plan_.tiles.disks.get(); }

  const job::Choices& choices() const noexcept { return plan_.choices; }
  plan::Strategy strategy() const noexcept { return plan_.choices.strategy; }
  const job::CacheUse& cache_use() const noexcept { return plan_.cache; }
  /// Returns a number that ConnectedPlan explains, as the next function does.
  std::uint64_t matching() const noexcept { return plan_.matching; }
  double seconds_load() const noexcept { return plan_.seconds_load; }
  double seconds_plan() const noexcept { return plan_.seconds_plan; }

  /// Returns how many messages this process sent before run_loops(): handshakes, collective calls and lists.
  std::uint64_t setup_messages() const noexcept { return setup_messages_; }

 private:
  friend std::vector<IterationRecord> detail::run_loops(DenseJob&, engine::Loops&, const IterateOptions&, int,
                                                        const detail::PackedTotals&, std::span<const double>,
                                                        detail::PackedTotals&);
  void place_inbox();
  std::vector<topology::PlacedMemory> inbox_memory() const;
  std::vector<topology::PlacedMemory> tile_memory() const;
  std::vector<topology::PlacedMemory> array_memory(const engine::VertexArray& array) const;
  void count_memory(const engine::Loops& loops, const engine::IterationResult& result);

  launch::Bootstrap& bootstrap_;
  const Graph& graph_;
  bool weighted_;
  process::LocalProcess process_;
  job::DensePlan plan_;
  bool rows_released_ = false;
  bool has_run_ = false;  ///< whether run_loops() was called
  job::MemoryFigures memory_figures_;
  std::uint64_t setup_messages_ = 0;
  topology::Observer* observer_ = nullptr;
  job::Checkpoint* checkpoint_ = nullptr;
  int every_ = 1;  ///< iterations from checkpoint to checkpoint
};

}  // namespace edgewire
