// What every dense kernel needs before it can iterate: owned vertices, exchange plan, connected peers, tiles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/exchange.h"
#include "engine/iteration.h"
#include "engine/worker_pool.h"
#include "graph/graph_file.h"
#include "kernels/tile.h"
#include "launch/wire_up.h"
#include "plan/own_vertices.h"
#include "plan/ownership.h"
#include "plan/volume.h"
#include "transport/transport.h"

namespace edgewire::kernels {

struct DenseOptions {
  int workers = 1;  ///< per process; the same in all
  std::string transport = "shm";
  plan::Strategy strategy = plan::Strategy::slots;
  std::string ownership = "hash";  ///< hash, ranges or the path of a partition file
  plan::Layout layout = plan::Layout::degree;
  double peer_timeout_s = 10;
  std::string kernel;  ///< what is computed, in words: must be the same in all processes
};

/// One process's part of a job with a dense kernel. Collective; throws Error. `graph` and `wire` outlive it.
class DenseJob {
 public:
  DenseJob(launch::WireUp& wire, const graph::GraphFile& graph, const DenseOptions& options);

  const graph::GraphFile& graph() const noexcept { return graph_; }
  const plan::Ownership& ownership() const noexcept { return ownership_; }
  const plan::OwnVertices& own() const noexcept { return *own_; }
  const Tiles& tiles() const noexcept { return tiles_; }
  /// The edges of the sources that `peer` mirrors here, by local column; no columns when there are none.
  const Tiles& mirror_tiles(int peer) const noexcept { return mirror_tiles_[static_cast<std::size_t>(peer)]; }
  const transport::Transport& link() const noexcept { return *link_; }
  /// Values from every process to every other one in an iteration; the same in all processes.
  const plan::Traffic& traffic() const noexcept { return traffic_; }
  engine::WorkerPool& pool() noexcept { return *pool_; }

  std::vector<engine::IterationRecord> iterate(engine::Step& step, const engine::IterationOptions& options);

  double seconds_load = 0;  ///< verifying and ordering the own vertices
  double seconds_plan = 0;  ///< from there to the first iteration

 private:
  void build(const DenseOptions& options);
  void build_mirror_tiles();
  void count_traffic();

  launch::WireUp& wire_;
  const graph::GraphFile& graph_;
  std::unique_ptr<engine::WorkerPool> pool_;
  std::unique_ptr<transport::Transport> link_;
  plan::Ownership ownership_;
  std::unique_ptr<plan::OwnVertices> own_;
  std::unique_ptr<engine::Exchange> exchange_;
  std::vector<std::uint32_t> column_bounds_;
  Tiles tiles_;
  std::vector<Tiles> mirror_tiles_;  ///< [peer]
  plan::Traffic traffic_;
};

}  // namespace edgewire::kernels
