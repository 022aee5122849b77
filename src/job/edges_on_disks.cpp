// What a dense job does where its edges are on disks.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "disk/read_figures.h"
#include "graph/checksum.h"
#include "job/plan_cache.h"
#include "launch/agreement.h"
#include "tiles/plan_readers.h"

namespace edgewire::job {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOthers = 3;  // whose files stay beside those of a run, in a folder
constexpr std::string_view kKind = "edges-";
constexpr std::size_t kDigits = 16;  // behind it, which say for what
constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kTilesInMemory = 256 * kMiB;  // before they are written

/// In each of the devices' folders; processes may share these.
std::vector<std::string> edge_files(const PlanTask& task) {
  return disk::device_paths(task.options.devices, edges_name(task));
}

/// Removes this process's files of other graphs and options from a folder, all but those that were written
/// last. Runs that use them have them open, and go on.
void remove_old_files(const PlanTask& task, const fs::path& folder) {
  const std::string mine = edges_name(task);
  const std::size_t digits = fs::path(task.graph.path()).filename().string().size() + kKind.size() + 1;
  const auto is_of_others = [&](std::string_view file) {
    const auto behind = file.substr(std::min(mine.size(), file.size()));
    std::string name(file.substr(0, mine.size()));
    if (name.size() < mine.size() || name == mine || !(behind.empty() || behind.starts_with("-disk-")))
      return false;
    return name.replace(digits, kDigits, mine, digits, kDigits) == mine;
  };
  struct Files {
    fs::file_time_type written = fs::file_time_type::min();
    std::vector<fs::path> paths{};
  };
  std::map<std::string, Files> found;  // by name, without what says which device's it is
  std::error_code none;                // what others remove meanwhile is no fault
  for (fs::directory_iterator file(folder, none), end; !none && file != end; file.increment(none)) {
    const std::string name = file->path().filename();
    if (!is_of_others(name)) continue;
    auto& [written, paths] = found[name.substr(0, mine.size())];
    written = std::max(written, file->last_write_time(none));
    paths.push_back(file->path());
  }
  std::vector<Files> others;
  for (auto& one : found) others.push_back(std::move(one.second));
  std::ranges::sort(others, std::ranges::greater(), &Files::written);
  for (std::size_t i = kOthers; i < others.size(); ++i)
    for (const auto& path : others[i].paths) fs::remove(path, none);
}

}  // namespace

std::string edges_name(const PlanTask& task) {
  const std::string subject = subject_of_plan(task);
  return task.kept_name(fmt::format("{}{:016x}", kKind, graph::checksum(subject.data(), subject.size())));
}

EdgeTiles build_on_disks(const PlanTask& task, const plan::ExchangeColumns& edges, const Columns& columns) {
  for (const auto& folder : task.options.devices) remove_old_files(task, folder);
  remove_old_files(task, task.options.plan_cache);
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
