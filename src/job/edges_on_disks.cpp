// What a dense job does where its edges are on disks.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "disk/read_figures.h"
#include "job/dense_plan.h"
#include "launch/agreement.h"
#include "tiles/plan_readers.h"

namespace edgewire::job {

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kTilesInMemory = 256 * kMiB;  // before they are written

/// In each of the devices' folders; processes may share these.
std::vector<std::string> edge_files(const PlanTask& task) {
  return disk::device_paths(
      task.options.devices,
      fmt::format("{}.edges-{}-of-{}", std::filesystem::path(task.graph.path()).filename().string(),
                  task.bootstrap.rank(), task.bootstrap.size()));
}

}  // namespace

EdgeTiles build_on_disks(const PlanTask& task, const plan::ExchangeColumns& edges, const Columns& columns) {
  auto& pool = task.seat.pool();
  DiskTilesWriter writer(pool, edge_files(task), columns.bounds.size() - 1,
                         launch::new_generation(task.bootstrap));
  const std::uint64_t memory_bytes = task.options.memory_bytes;
  const std::uint64_t budget =
      memory_bytes == 0 ? kTilesInMemory : std::clamp(memory_bytes / 8, 16 * kMiB, kTilesInMemory);
  tiles::build_tiles(pool, tiles::PlanReader(edges), columns.bounds, task.tile_sizes(), writer, budget);
  return open_disk_tiles(task, writer.finish(), columns.bounds);
}

EdgeTiles open_disk_tiles(const PlanTask& task, TileSegments segments,
                          std::span<const std::uint32_t> bounds) {
  EdgeTiles tiles;
  tiles.disks = std::make_unique<DiskTiles>(edge_files(task), std::move(segments), task.bootstrap.health());
  tiles.own = tiles::Tiles(bounds, tiles.disks->where().sizes, *tiles.disks);
  return tiles;
}

void plan_reads(const PlanTask& task, DensePlan& plan) {
  const auto& tiles = plan.tiles.own;
  std::vector<std::vector<std::size_t>> sent(static_cast<std::size_t>(task.workers()));
  for (std::size_t w = 0; w < sent.size(); ++w) {
    for (const auto& chunk : plan.exchange.lane_chunks(static_cast<int>(w)))
      if (plan.exchange.outgoing()[chunk.stream].indexes.empty()) sent[w].push_back(chunk.column);
  }
  const auto columns = share_columns(tiles, std::move(sent), plan.columns.local(), plan.column_workers);
  std::vector<std::uint32_t> widths;
  for (std::size_t c = 0; c < tiles.columns(); ++c) widths.push_back(tiles.column_width(c));
  plan.tiles.disks->plan_reads(columns, plan.owned.count(), std::move(widths),
                               disk::read_ahead_bytes(task.options.memory_bytes, columns.size()));
}

}  // namespace edgewire::job
