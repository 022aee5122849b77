// What a dense job does where its edges are on disks.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "job/dense_job.h"
#include "job/plan_cache.h"
#include "launch/agreement.h"
#include "tiles/plan_readers.h"

namespace edgewire::job {

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kTilesInMemory = 256 * kMiB;  // before they are written

}  // namespace

/// In each of the devices' folders; processes may share these.
std::vector<std::string> DenseJob::edge_files(const DenseOptions& options) const {
  return disk::device_paths(
      options.devices,
      fmt::format("{}.edges-{}-of-{}", std::filesystem::path(graph_.path()).filename().string(),
                  bootstrap_.rank(), bootstrap_.size()));
}

void DenseJob::build_on_disks(const DenseOptions& options, const plan::ExchangePlan& plan,
                              const tiles::TileSizes& sizes) {
  DiskTilesWriter writer(seat_.pool(), edge_files(options), column_bounds_.size() - 1,
                         launch::new_generation(bootstrap_));
  const std::uint64_t budget = options.memory_bytes == 0
                                   ? kTilesInMemory
                                   : std::clamp(options.memory_bytes / 8, 16 * kMiB, kTilesInMemory);
  tiles::build_tiles(seat_.pool(), tiles::PlanReader(plan), column_bounds_, sizes, writer, budget);
  open_disk_tiles(options, writer.finish());
}

void DenseJob::open_disk_tiles(const DenseOptions& options, TileSegments segments) {
  disk_tiles_ = std::make_unique<DiskTiles>(edge_files(options), std::move(segments), bootstrap_.health());
  tiles_ = tiles::Tiles(column_bounds_, disk_tiles_->where().sizes, *disk_tiles_);
}

/// When it is known what each worker sends.
void DenseJob::plan_reads(const DenseOptions& options) {
  std::vector<std::vector<std::size_t>> sent(static_cast<std::size_t>(seat_.pool().workers()));
  for (std::size_t w = 0; w < sent.size(); ++w) {
    for (const auto& chunk : exchange_->lane_chunks(static_cast<int>(w)))
      if (exchange_->outgoing()[chunk.stream].indexes.empty()) sent[w].push_back(chunk.column);
  }
  const auto columns = share_columns(tiles_, std::move(sent), local_columns(), column_workers_);
  std::vector<std::uint32_t> widths;
  for (std::size_t c = 0; c < tiles_.columns(); ++c) widths.push_back(tiles_.column_width(c));
  disk_tiles_->plan_reads(columns, owned_->count(), std::move(widths),
                          disk::read_ahead_bytes(options.memory_bytes, columns.size()));
}

void DenseJob::measure_disks() {
  disk_tiles_->stop_reads();
  bootstrap_.allgather("");  // all read at the same time
  disk_figures_.measure_limit(disk_tiles_->paths(), static_cast<std::size_t>(seat_.pool().workers()));
}

}  // namespace edgewire::job
