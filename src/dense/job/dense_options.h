// This file has the options of a dense job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dense/job/order_choice.h"
#include "dense/plan/owned_vertices.h"
#include "dense/plan/volume.h"
#include "edgewire/graph.h"
#include "edgewire/progress.h"
#include "process/local_process.h"

namespace edgewire::job {

struct DenseOptions {
  process::ProcessOptions process{};
  plan::Strategy strategy = plan::Strategy::slots;
  /// Whether to take `cover` instead of `slots` when the wire would otherwise be the limit.
  bool choose_strategy = false;
  double assumed_compute_rate = 0;  ///< edges per second and worker, for choices; 0: measure
  double assumed_link_rate = 0;     ///< bytes per second of the link, for choices; 0: measure
  /// The encoding of messages: doubles with f64, else floats. 16 bits need strategy slots or cover.
  plan::Encoding encoding = plan::Encoding::f32;
  /// Whether edges have their weights, for programs that use them; the graph must have weights.
  bool weighted = false;
  /// The ownership: hash, ranges or the path of a partition file. "hilbert" and "grid": processes hold blocks
  /// of edges; the strategy is then `slots` or `cover`. "auto" takes one of these four, "auto,FILE" also the
  /// file: the one that takes the least time on the link and the cores.
  std::string ownership = "hash";
  RowReading rows = RowReading::automatic;  ///< way of reading rows; own, where edges are on disks
  plan::Layout layout = plan::Layout::degree;
  bool choose_layout = false;  ///< whether to measure which layout is faster
  OrderOptions order;          ///< order of tiles; strips, where edges are on disks
  /// The folder of the plan cache (dense/job/plan_cache.h); empty: no cache.
  std::string plan_cache;
  /// The folders that each hold a file of edges on disks; none: edges are in memory. Edges on disks need a
  /// plan cache, and do not go with strategy `cover`.
  std::vector<std::string> devices;
  /// The memory of a process with edges on disks, see disk::MemoryBudget; 0: ample. Where it does not hold
  /// the graph, `choose_layout` takes the given order, so that rows are read one after the other.
  std::uint64_t memory_bytes = 0;
  std::uint64_t link_bits_per_s = 0;  ///< line rate of shaped links; 0: not shaped; for the plan cache only
  Progress progress;                  ///< called by any worker with the progress of loading and planning
  std::string kernel;                 ///< name of the computation, which must be the same in all processes
};

/// Throws UsageError when an option makes no sense, alone or beside another one, and Error when the graph
/// lacks what it needs. A DenseJob begins with this check.
void check(const DenseOptions& options, const Graph& graph);

}  // namespace edgewire::job
