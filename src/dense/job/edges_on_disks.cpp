// This file has the work of a dense job whose edges are on disks.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "base/checksum.h"
#include "base/file_calls.h"
#include "dense/job/dense_plan.h"
#include "dense/job/plan_cache.h"
#include "dense/tiles/build_tiles.h"
#include "disk/memory_budget.h"
#include "launch/agreement.h"

namespace edgewire::job {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOthers = 3;  // number of plans whose files stay beside those of a run, in a folder
constexpr std::string_view kKind = "edges-";
constexpr std::size_t kDigits = 16;                            // digits behind it, which name the plan
constexpr std::uint64_t kBuilding = std::uint64_t{256} << 20;  // most bytes for building tiles

/// Returns the paths of the files. They lie in the devices' folders, one in each; processes may share the
/// folders.
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
  std::map<std::string, Files> found;  // files by name, without the number of the device
  std::error_code none;                // files that others remove meanwhile are no fault
  for (const auto& file : entries_of(folder, none)) {
    const std::string name = file.path().filename();
    if (!is_of_others(name)) continue;
    auto& [written, paths] = found[name.substr(0, mine.size())];
    written = std::max(written, file.last_write_time(none));
    paths.push_back(file.path());
  }
  std::vector<Files> others;
  for (auto& one : found) others.push_back(std::move(one.second));
  std::ranges::sort(others, std::ranges::greater(), &Files::written);
  for (std::size_t i = kOthers; i < others.size(); ++i)
    for (const auto& path : others[i].paths) fs::remove(path, none);
}

/// Returns the least number of vertices of the largest process.
std::uint64_t owned_vertices(const PlanTask& task) {
  return (task.graph.vertices() + task.processes() - 1) / task.processes();
}

/// Returns the memory that building tiles leaves beside vertices.
disk::MemoryBudget building_budget(const PlanTask& task, const disk::VertexCounts& vertices) {
  constexpr std::uint64_t kOwned = 8, kOther = 18;
  return {task.options.memory_bytes, {kOwned, kOther}, vertices};
}

/// Returns the memory that iterating leaves beside vertices: their order, values, constants and messages, and
/// the values that are sent.
disk::MemoryBudget iterating_budget(const PlanTask& task, const disk::VertexCounts& vertices) {
  constexpr std::uint64_t kOwned = 16, kOther = 8, kValues = 4;
  return {task.options.memory_bytes,
          {kOwned + kValues * plan::message_bytes(task.options.encoding), kOther},
          vertices};
}

EdgeTiles from_disks(const PlanTask& task, disk::SegmentFiles files, TileSegments segments,
                     std::span<const std::uint32_t> bounds) {
  EdgeTiles tiles;
  tiles.disks = std::make_unique<DiskTiles>(std::move(files), std::move(segments), task.bootstrap.health());
  tiles.own = tiles::Tiles(bounds, tiles.disks->where().sizes, *tiles.disks);
  return tiles;
}

}  // namespace

std::string edges_name(const PlanTask& task) {
  const std::string subject = subject_of_plan(task);
  return task.cache_name(fmt::format("{}{:016x}", kKind, checksum(subject.data(), subject.size())));
}

void check_memory(const PlanTask& task) { iterating_budget(task, {owned_vertices(task), 0}); }

bool memory_holds_rows(const PlanTask& task) {
  const std::uint64_t bytes =
      task.graph.edges() *
      (sizeof(VertexId) + (task.options.weighted ? bytes_of(task.graph.weights().type()) : 0));
  const std::uint64_t mine = bytes / static_cast<std::uint64_t>(task.bootstrap.local_size());
  const bool holds = mine <= building_budget(task, {owned_vertices(task), 0}).rest_or(mine);
  const auto all = task.bootstrap.allgather(holds ? "yes" : "no");
  return std::ranges::find(all, "no") == all.end();
}

EdgeTiles build_on_disks(const PlanTask& task, const plan::EdgeReader& edges, const Columns& columns) {
  for (const auto& folder : task.options.devices) remove_old_files(task, folder);
  remove_old_files(task, task.options.plan_cache);
  auto& pool = task.process.pool();
  DiskTilesWriter writer(pool, edge_files(task), columns.bounds.size() - 1,
                         launch::new_generation(task.bootstrap));
  const auto budget = building_budget(task, {edges.sources(), columns.bounds.back() - edges.sources()});
  tiles::build_tiles(pool, edges, columns.bounds, task.tile_sizes(), writer,
                     std::min(budget.rest_or(kBuilding), kBuilding));
  task.bootstrap.allgather("");  // no file gets its name unless all processes have written theirs
  auto [files, segments] = writer.finish();
  return from_disks(task, std::move(files), std::move(segments), columns.bounds);
}

EdgeTiles open_disk_tiles(const PlanTask& task, TileSegments segments,
                          std::span<const std::uint32_t> bounds) {
  disk::SegmentFiles files(edge_files(task), segments.generation);
  return from_disks(task, std::move(files), std::move(segments), bounds);
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
  std::uint64_t values = 0;
  for (const auto& stream : plan.exchange.outgoing()) values += stream.slots;
  const auto budget = iterating_budget(task, {plan.owned.count(), values});
  plan.tiles.disks->plan_reads(columns, plan.owned.count(), std::move(widths),
                               budget.read_ahead(columns.size()));
  plan.read_ahead = budget.read_ahead(columns.size()) * columns.size();
}

}  // namespace edgewire::job
