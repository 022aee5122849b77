#include "cli/edge_place.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/available_memory.h"
#include "base/error.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "dense/plan/block_plan.h"

namespace edgewire::cli {

namespace {

/// About how many bytes edges and vertices take in memory, without weights.
struct Needs {
  double an_edge, a_vertex;

  double of(const graph::GraphFile& graph, bool weighted) const {
    constexpr double kWeight = 4;
    return static_cast<double>(graph.edges()) * (an_edge + (weighted ? kWeight : 0)) +
           static_cast<double>(graph.vertices()) * a_vertex;
  }
};
/// Tiles, values and messages: somewhat more than was seen on Kronecker graphs of scale 20 (2.3 to 2.5 bytes
/// an edge, 32 to 37 a vertex).
constexpr Needs kNeedOfTiles{2.7, 50};
/// Rows as they are mapped, and what most kernels keep of a vertex.
constexpr Needs kNeedOfRows{4, 24};

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// An option that goes with edges in memory only; or empty.
std::string needs_memory(const job::DenseOptions& options) {
  if (options.strategy == plan::Strategy::cover) return "--strategy cover";
  if (partition::owns_edges(options.ownership)) return fmt::format("--ownership {}", options.ownership);
  if (options.order.order != tiles::Order::strips)
    return fmt::format("--order {}", to_name(options.order.order));
  return "";
}

}  // namespace

void EdgePlace::add_to(CLI::App& command, launch::LaunchOptions& launch) {
  launch.less_memory = "--edges disk with a smaller --memory";
  command.option_defaults()->group("Edges on disks");
  command
      .add_option(
          "--edges", edges,
          "keep the edges in memory, or on disk, from where each iteration reads them; auto takes disk "
          "where memory does not suffice")
      ->check(CLI::IsMember({"auto", "memory", "disk"}))
      ->capture_default_str();
  writes(
      command
          .add_option("--devices", devices,
                      "share the edges out among these folders (a,b), each on a disk of its own; by default "
                      "they are beside the plan cache")
          ->delimiter(','),
      Form::folder, inside(kept_names()));
  command
      .add_option("--memory", memory_bytes,
                  "of a process, such as 2G: what auto goes by, and what a process with edges on disk takes "
                  "at most, beside 64M; by default what is free")
      ->transform(sizes())
      ->check(CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 60));
}

void EdgePlace::check() const {
  if (edges == "memory" && !devices.empty()) throw UsageError("--devices needs --edges disk or auto");
  std::set<std::filesystem::path> seen;
  for (const auto& folder : devices) {
    std::error_code none;  // a folder that is not there is refused later
    if (!seen.insert(std::filesystem::weakly_canonical(folder + "/", none)).second && !none)
      throw UsageError(fmt::format("--devices: {} is named twice; name a folder on each disk", folder));
  }
}

/// `bytes_in_memory`: what all processes together need for edges in memory. `option`: one that does not go
/// with edges on disks, to which auto gives way; or empty.
bool EdgePlace::on_disks(double bytes_in_memory, launch::Bootstrap& bootstrap,
                         const std::string& option) const {
  if (edges != "auto") return edges == "disk";
  const auto free = memory_bytes > 0 ? static_cast<double>(memory_bytes)
                                     : static_cast<double>(available_memory()) / bootstrap.local_size();
  const double needed = bytes_in_memory / bootstrap.size();
  const auto answers = bootstrap.allgather(needed > free ? "disk" : "memory");
  const bool disk = std::ranges::find(answers, "disk") != answers.end();
  if (disk && bootstrap.rank() == 0)
    note(fmt::format(
        "{}: in memory a process would need about {:.0f} MB, and a process has not that much "
        "(rank 0: {:.0f} MB)",
        option.empty() ? "edges are on disk" : fmt::format("edges stay in memory, as {} needs it", option),
        needed / 1e6, free / 1e6));
  return disk && option.empty();
}

void EdgePlace::apply_to_tiles(job::DenseOptions& options, launch::Bootstrap& bootstrap,
                               const graph::GraphFile& graph) const {
  if (!on_disks(kNeedOfTiles.of(graph, options.weighted), bootstrap, needs_memory(options))) return;
  options.choose_strategy = false;  // of slots and cover
  options.memory_bytes = memory_bytes;
  if (options.plan_cache.empty()) options.plan_cache = folder_of(graph.path());
  options.devices = devices.empty() ? std::vector{options.plan_cache} : devices;
}

frontier::RowDisks EdgePlace::rows(bool weighted, launch::Bootstrap& bootstrap,
                                   const graph::GraphFile& graph) const {
  weighted = weighted && graph.weighted();
  if (!on_disks(kNeedOfRows.of(graph, weighted), bootstrap)) return {{}, 0, weighted};
  return {devices.empty() ? std::vector{folder_of(graph.path())} : devices, memory_bytes, weighted};
}

}  // namespace edgewire::cli
